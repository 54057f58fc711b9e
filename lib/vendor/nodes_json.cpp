// Writes a region as the vendor's compiler reads it. Every value of an attribute is a list of strings,
// numbers too, but for the few that the format gives as plain strings, numbers or objects.
#include <bit>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/base64.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/vendor/vendor.h"

namespace mrvlc::vendor {
namespace {

using Json = nlohmann::ordered_json;

Json strings(const Shape& numbers) {
  Json out = Json::array();
  for (int64_t n : numbers) out.push_back(std::to_string(n));
  return out;
}
Json one(std::string_view text) {
  return Json::array({text});
}
Json one(int64_t number) {
  return one(std::to_string(number));
}

// NCHW to NHWC, O(I/g)HW to OHWI.
Shape channels_last(const Shape& s) {
  return s.size() == 4 ? Shape{s[0], s[2], s[3], s[1]} : s;
}
std::string layout_of(const Shape& s) {
  return s.size() == 4 ? "NHWC" : s.size() == 2 ? "NC" : std::string("NHWC").substr(0, s.size());
}

struct Constant {
  Shape shape;
  std::vector<float> data;
};

Constant constant_of(const Tensor& tensor) {
  const std::span<const float> data = tensor.data<float>();
  return {tensor.shape(), {data.begin(), data.end()}};
}

Constant channels_last(const Constant& c) {
  if (c.shape.size() != 4) return c;
  const auto [a, b, h, w] = std::tie(c.shape[0], c.shape[1], c.shape[2], c.shape[3]);
  Constant out{channels_last(c.shape), {}};
  out.data.reserve(c.data.size());
  for (int64_t i = 0; i < a; ++i)
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x)
        for (int64_t k = 0; k < b; ++k)
          out.data.push_back(c.data[static_cast<size_t>(((i * b + k) * h + y) * w + x)]);
  return out;
}

Constant transposed(const Constant& c) {
  Constant out{{c.shape[1], c.shape[0]}, {}};
  for (int64_t j = 0; j < c.shape[1]; ++j)
    for (int64_t i = 0; i < c.shape[0]; ++i)
      out.data.push_back(c.data[static_cast<size_t>(i * c.shape[1] + j)]);
  return out;
}

// Constants of rank 1 and 3 get a leading dimension.
Constant with_leading(Constant c) {
  if (c.shape.size() == 1 || c.shape.size() == 3) c.shape.insert(c.shape.begin(), 1);
  return c;
}

std::string bytes_of(const std::vector<float>& data) {
  std::string out;
  out.reserve(4 * data.size());
  for (float f : data) {
    const auto bits = std::bit_cast<uint32_t>(f);
    for (int i = 0; i < 4; ++i) out += static_cast<char>(static_cast<uint8_t>(bits >> (8 * i)));
  }
  return out;
}

class Writer {
 public:
  Writer(const ir::Graph& graph, const partition::Region& region, const std::string& symbol)
      : g_(graph), region_(region), symbol_(symbol) {}

  Texts run() {
    for (ir::ValueId v : region_.inputs) add_input(v);
    for (ir::ValueId v : region_.inputs) transform(v);
    for (const partition::Layer& layer : region_.layers) add_layer(layer);
    Json heads = Json::array();
    for (ir::ValueId v : region_.outputs) heads.push_back({at_.at(v), 0, 0});
    const Shape& first = shape(region_.inputs.front());
    Json document = {
        {"symbol", symbol_},
        {"nodes", std::move(nodes_)},
        {"arg_nodes", std::move(arg_nodes_)},
        {"heads", std::move(heads)},
        {"batch_size", std::to_string(first.empty() ? 1 : first[0])},
        {"num_subgraph_inputs", std::to_string(region_.inputs.size())},
        {"num_subgraph_outputs", std::to_string(region_.outputs.size())},
        {"attrs",
         {{"shape", {"list_shape", std::move(shapes_)}}, {"dltype", {"list_str", std::move(types_)}}}}};
    return {json_document(document), json_document(constants_)};
  }

 private:
  const Shape& shape(ir::ValueId v) const { return g_.value(v).type.shape; }

  size_t add_node(Json node, const Shape& result) {
    nodes_.push_back(std::move(node));
    shapes_.push_back(Json::array({result}));
    types_.push_back("float32");
    return nodes_.size() - 1;
  }

  void add_input(ir::ValueId v) {
    const size_t k = arg_nodes_.size();
    arg_nodes_.push_back(nodes_.size());
    Json node = {{"op", "input"},
                 {"name", fmt::format("{}_i{}", symbol_, k)},
                 {"attrs",
                  {{"dtype", one("float32")},
                   {"shape", Json::array({shape(v)})},
                   {"layer_name", one("input")},
                   {"data_layout", one(shape(v).size() == 2 ? "NC" : "NCHW")}}},
                 {"inputs", Json::array()},
                 {"input_id", one(static_cast<int64_t>(k))}};
    at_[v] = add_node(std::move(node), shape(v));
  }

  struct Described {
    std::string layer, composite;
    std::vector<ir::ValueId> operands;
    std::string in, out;           // layouts
    std::vector<Shape> in_shapes;  // as stored
    Shape out_shape;
    Json own = Json::object();  // of the composite
    size_t constants = 0;
  };

  // With what all layers have.
  size_t add_operation(Described d) {
    const size_t j = operations_++;
    Json attrs = {{"layer_name", one(d.layer)}, {"func_node_name", one(symbol_)}};
    attrs["func_name"] = one(fmt::format("n{}_{}_{}{}", j, d.layer, d.in, d.out.empty() ? "" : "2" + d.out));
    attrs["composite_name"] = one(d.composite);
    attrs["data_layout"] = one(d.in);
    attrs["out_layout"] = one(d.out);
    for (size_t i = 0; i < d.in_shapes.size(); ++i)
      attrs[d.in_shapes.size() == 1 ? "data_layout_shape" : fmt::format("data_layout_shape_{}", i)] =
          strings(d.in_shapes[i]);
    attrs["out_layout_shape"] = strings(d.out_shape);
    for (auto& [key, value] : d.own.items()) attrs[key] = std::move(value);
    attrs["from_tuple_idx"] = one(-1);
    attrs["dtype"] = one("float32");
    attrs["shape"] = Json::array({d.out_shape});
    attrs["num_inputs"] = std::to_string(d.operands.size() + d.constants);
    attrs["num_outputs"] = "1";
    attrs["mrvl_nodes_idx"] = Json::array({j + 1});
    Json inputs = Json::array();
    for (ir::ValueId v : d.operands) inputs.push_back({at_.at(v), 0, 0});
    return add_node({{"op", "tvm_op"},
                     {"name", fmt::format("tvmgen_mrvl_main_{}", j)},
                     {"attrs", std::move(attrs)},
                     {"inputs", std::move(inputs)}},
                    d.out_shape);
  }

  void transform(ir::ValueId v) {
    if (shape(v).size() != 4) return;
    at_[v] = add_operation({"layout_transform",
                            "mrvl.layout_transform_nchw2nhwc",
                            {v},
                            "NCHW",
                            "NHWC",
                            {shape(v)},
                            channels_last(shape(v)),
                            {{"src_layout", one("NCHW")}, {"dst_layout", one("NHWC")}}});
  }

  // A constant of the operation that comes next: its name, and what its attributes say of it.
  void add_constant(Described& d, const std::string& key, size_t number, Constant c, bool range = true) {
    c = with_leading(std::move(c));
    const std::string name = fmt::format("tvmgen_mrvl_main_{}_const_{}", operations_, number);
    float least = std::numeric_limits<float>::infinity(), most = -least;
    for (float f : c.data) least = std::min(least, f), most = std::max(most, f);
    Json said = {{"shape", c.shape}, {"dtype", "float32"}};
    if (range) said["min"] = fmt::format("{:.17g}", least), said["max"] = fmt::format("{:.17g}", most);
    said["name"] = name;
    d.own[key + "_const"] = std::move(said);
    d.own[key + "_const_name"] = one(name);
    constants_[name] = {{"shape", c.shape},
                        {"dtype", "float32"},
                        {"min", fmt::format("{:.17g}", least)},
                        {"max", fmt::format("{:.17g}", most)},
                        {"data_base64", base64(bytes_of(c.data))}};
    ++d.constants;
  }

  const Tensor& tensor(ir::ValueId v) const { return *g_.constant(v); }
  static bool has(const ir::Node& n, size_t i) { return i < n.inputs.size() && n.inputs[i].valid(); }

  const ir::Node* follows(const partition::Layer& layer, Op op) const {
    for (ir::NodeId id : layer.nodes)
      if (id != layer.anchor && g_.node(id).is(op)) return &g_.node(id);
    return nullptr;
  }

  // Operand and result as they are stored.
  Described described(std::string layer, std::string composite, std::vector<ir::ValueId> operands,
                      ir::ValueId result) const {
    Described d{
        std::move(layer), std::move(composite), std::move(operands), {}, {}, {}, {}, Json::object(), 0};
    for (ir::ValueId v : d.operands) d.in_shapes.push_back(channels_last(shape(v)));
    d.out_shape = channels_last(shape(result));
    d.in = layout_of(d.in_shapes.front());
    d.out = layout_of(d.out_shape);
    return d;
  }

  void window(Described& d, const ops::WindowParams& p) const {
    d.own["strides"] = strides_of(p.strides);
    d.own["padding"] = strings({p.pads_begin[0], p.pads_begin[1], p.pads_end[0], p.pads_end[1]});
    d.own["dilation"] = strides_of(p.dilations);
  }
  static Json strides_of(const std::vector<int64_t>& v) { return strings(Shape(v.begin(), v.end())); }

  Described conv(const partition::Layer& layer, const ir::Node& n, ir::ValueId result) {
    Described d = described("Conv2D", "mrvl.conv2d_nhwc2nhwc", {n.inputs[0]}, result);
    const ops::ConvParams p = ops::conv_params(ops::infer_context(g_, n)).value();
    window(d, p);
    d.own["groups"] = one(p.group);
    d.own["channels"] = one(p.out_channels);
    d.own["kernel_size"] = strides_of(p.kernel);
    d.own["kernel_layout"] = one("OHWI");
    d.own["out_dtype"] = one("float32");
    add_constant(d, "kernel", 0, channels_last(constant_of(tensor(n.inputs[1]))));
    size_t next = 1;
    if (has(n, 2)) {
      add_constant(d, "bias", next++, constant_of(tensor(n.inputs[2])));
      d.own["bias_layout"] = one("---O");
    }
    if (const ir::Node* norm = follows(layer, Op::BatchNormalization)) {
      constexpr const char* kNames[] = {"gamma", "beta", "mean", "var"};
      for (size_t i = 0; i < 4; ++i) {
        add_constant(d, kNames[i], next++, constant_of(tensor(norm->inputs[i + 1])), false);
        d.own[fmt::format("{}_layout", kNames[i])] = one("-O");
      }
      d.own["axis"] = one(3);
      d.own["epsilon"] = one(fmt::format("{:.17g}", ops::attr::epsilon(*norm)));
      d.own["center"] = one(1);
      d.own["scale"] = one(1);
    }
    return d;
  }

  Described fc(const partition::Layer& layer, const ir::Node& n, ir::ValueId result) {
    const ir::Node& first = g_.node(layer.nodes.front());
    const bool flattens = first.id != n.id;
    const ir::ValueId x = first.inputs[0];
    Described d = described("FC", "mrvl.fc_ni2no", {x}, result);
    const ops::GemmParams p = ops::gemm_params(ops::infer_context(g_, n)).value();
    Constant w = constant_of(tensor(n.inputs[1]));
    if (!p.trans_b) w = transposed(w);
    d.own["units"] = one(p.n);
    d.own["kernel_layout"] = one("OI");
    if (flattens) d.own["weights_need_transform"] = one("yes");
    add_constant(d, "kernel", 0, std::move(w));
    if (has(n, 2)) {
      Constant b = constant_of(tensor(n.inputs[2]));
      b.shape = {p.n};
      add_constant(d, "bias", 1, std::move(b));
      d.own["bias_layout"] = one("-O");
    }
    return d;
  }

  Described pool(const ir::Node& n, ir::ValueId result) const {
    const bool global = n.is(Op::GlobalAveragePool, Op::GlobalMaxPool);
    const bool average = n.is(Op::AveragePool, Op::GlobalAveragePool);
    const std::string layer = global    ? (average ? "GlobalAvgpool2D" : "GlobalMaxpool2D")
                              : average ? "Avgpool2D"
                                        : "Maxpool2D";
    const std::string composite =
        fmt::format("mrvl.{}{}pool2d_nhwc2nhwc", global ? "global" : "", average ? "avg" : "max");
    Described d = described(layer, composite, {n.inputs[0]}, result);
    const ops::PoolParams p = ops::pool_params(ops::infer_context(g_, n)).value();
    d.own["kernel_layout"] = one("HW");
    d.own["kernel_layout_shape"] = strides_of(global ? p.input : p.kernel);
    if (global) return d;
    d.own["pool_size"] = strides_of(p.kernel);
    window(d, p);
    d.own["ceil_mode"] = one(p.ceil_mode ? 1 : 0);
    if (average) d.own["count_include_pad"] = one(p.count_include_pad ? 1 : 0);
    return d;
  }

  static Shape padded(Shape s) {
    s.resize(std::max<size_t>(4, s.size()), 1);
    return s;
  }

  Described sum(const ir::Node& n, ir::ValueId result) {
    std::vector<ir::ValueId> operands;
    ir::ValueId constant;
    for (ir::ValueId v : n.inputs) (g_.is_constant(v) ? constant = v : operands.emplace_back(v));
    Described d = described("Sum2D", "mrvl.sum", operands, result);
    for (Shape& s : d.in_shapes) s = padded(s);
    d.out_shape = padded(d.out_shape);
    d.in = d.out = "NHWC";
    if (!constant.valid()) return d;
    Constant c = constant_of(tensor(constant));
    c.shape.insert(c.shape.begin(), 4 - c.shape.size(), 1);
    c = channels_last(c);
    const Shape stored = c.shape;
    add_constant(d, "input", 0, std::move(c));
    d.own["input_const_shape"] = strings(stored);
    return d;
  }

  Described plain(std::string layer, std::string composite, const ir::Node& n, ir::ValueId result) const {
    std::vector<ir::ValueId> operands;
    for (ir::ValueId v : n.inputs)
      if (v.valid() && !g_.is_constant(v)) operands.push_back(v);
    return described(std::move(layer), std::move(composite), std::move(operands), result);
  }

  Described describe(const partition::Layer& layer, const ir::Node& n, ir::ValueId result) {
    switch (n.kind()) {
      case Op::Conv:
        return conv(layer, n, result);
      case Op::Gemm:
        return fc(layer, n, result);
      case Op::Add:
        return sum(n, result);
      case Op::Concat: {
        Described d = plain(std::string(n.op->name), "mrvl.concat", n, result);
        d.own["axis"] = one(3);
        return d;
      }
      case Op::Reshape:
        return plain("reshape", "mrvl.reshape", n, result);
      case Op::Flatten:
        return plain("nn.batch_flatten", "mrvl.batch_flatten", n, result);
      case Op::Squeeze:
        return plain("squeeze", "mrvl.squeeze", n, result);
      default:
        return pool(n, result);
    }
  }

  void add_layer(const partition::Layer& layer) {
    const ir::Node& n = g_.node(layer.anchor);
    const ir::ValueId result = g_.node(layer.nodes.back()).outputs[0];
    Described d = describe(layer, n, result);
    if (follows(layer, Op::Relu) != nullptr) d.own["activation_type"] = one("relu");
    at_[result] = add_operation(std::move(d));
  }

  const ir::Graph& g_;
  const partition::Region& region_;
  const std::string& symbol_;
  Json nodes_ = Json::array(), arg_nodes_ = Json::array(), shapes_ = Json::array(), types_ = Json::array();
  Json constants_ = Json::object();
  std::map<ir::ValueId, size_t> at_;  // the node that makes a value, as it is stored
  size_t operations_ = 0;
};

}  // namespace

Texts nodes_json(const ir::Graph& graph, const partition::Region& region, const std::string& symbol) {
  return Writer(graph, region, symbol).run();
}

}  // namespace mrvlc::vendor
