// Models as ONNX files.
#include <fmt/format.h>
#include <onnx/onnx.pb.h>

#include <algorithm>
#include <fstream>

#include "model.h"

namespace mrvlc::graphs {
namespace {

namespace pb = ::onnx;

// Of most models, so that many an ONNX Runtime takes them; and the opsets that brought later operators.
constexpr int kOpset = 21, kMlOpset = 5, kIrVersion = 10;
constexpr std::pair<std::string_view, int> kSince[] = {
    {"RMSNormalization", 23}, {"Swish", 24}, {"CumProd", 26}};

void set_tensor(pb::TensorProto& out, const Tensor& tensor, const std::string& name) {
  out.set_name(name);
  out.set_data_type(static_cast<int>(tensor.elem()));
  for (int64_t d : tensor.shape()) out.add_dims(d);
  if (tensor.elem() == ElementType::String) {
    for (const std::string& text : tensor.string_data()) out.add_string_data(text);
    return;
  }
  out.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
}

void set_type(pb::ValueInfoProto& out, const Value& value) {
  out.set_name(value.name);
  auto& type = *out.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(value.data.elem()));
  auto& shape = *type.mutable_shape();
  for (size_t d = 0; d < value.data.shape().size(); ++d) {
    auto& dim = *shape.add_dim();
    const int64_t size = value.data.shape()[d];
    const bool fixed = std::all_of(value.others.begin(), value.others.end(),
                                   [&](const Tensor& other) { return other.shape()[d] == size; });
    if (fixed && !value.dynamic) dim.set_dim_value(size);
  }
}

struct AttrWriter {
  pb::AttributeProto& to;

  void operator()(std::monostate) {}
  void operator()(int64_t v) {
    to.set_type(pb::AttributeProto::INT);
    to.set_i(v);
  }
  void operator()(float v) {
    to.set_type(pb::AttributeProto::FLOAT);
    to.set_f(v);
  }
  void operator()(const std::string& v) {
    to.set_type(pb::AttributeProto::STRING);
    to.set_s(v);
  }
  void operator()(const std::vector<int64_t>& v) {
    to.set_type(pb::AttributeProto::INTS);
    for (int64_t i : v) to.add_ints(i);
  }
  void operator()(const std::vector<float>& v) {
    to.set_type(pb::AttributeProto::FLOATS);
    for (float f : v) to.add_floats(f);
  }
  void operator()(const std::vector<std::string>& v) {
    to.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& s : v) to.add_strings(s);
  }
  void operator()(ElementType v) { (*this)(static_cast<int64_t>(v)); }
  void operator()(const Tensor& v) {
    to.set_type(pb::AttributeProto::TENSOR);
    set_tensor(*to.mutable_t(), v, "");
  }
  void operator()(const std::shared_ptr<ir::Graph>&) {}
  void operator()(const TensorType&) {}
};

void write_graph(const Model& model, pb::GraphProto& graph);

void write_node(const Model& model, const Node& node, pb::NodeProto& out) {
  out.set_op_type(std::string(node.op->name));
  out.set_domain(std::string(node.op->domain));
  for (int v : node.inputs) out.add_input(v < 0 ? "" : model.values[static_cast<size_t>(v)].name);
  for (int v : node.outputs) out.add_output(model.values[static_cast<size_t>(v)].name);
  for (size_t a = 0; a < node.attrs.size(); ++a) {
    if (!ir::is_set(node.attrs[a]) || node.attrs[a] == node.op->attrs[a].default_value) continue;
    auto& attr = *out.add_attribute();
    attr.set_name(std::string(node.op->attrs[a].name));
    std::visit(AttrWriter{attr}, node.attrs[a]);
  }
  for (const auto& [name, body] : node.bodies) {
    auto& attr = *out.add_attribute();
    attr.set_name(name);
    attr.set_type(pb::AttributeProto::GRAPH);
    write_graph(*body, *attr.mutable_g());
  }
}

void write_graph(const Model& model, pb::GraphProto& graph) {
  graph.set_name("graph");
  for (int v : model.inputs) set_type(*graph.add_input(), model.values[static_cast<size_t>(v)]);
  for (const Value& value : model.values) {
    if (value.kind == Kind::Constant) set_tensor(*graph.add_initializer(), value.data, value.name);
  }
  for (const Node& node : model.nodes) write_node(model, node, *graph.add_node());
  for (int v : model.outputs) set_type(*graph.add_output(), model.values[static_cast<size_t>(v)]);
}

void opsets(const Model& model, int& onnx, int& ml) {
  for (const Node& node : model.nodes) {
    int& opset = node.op->domain.empty() ? onnx : ml;
    opset = std::max({opset, node.op->since_min, node.op->domain.empty() ? kOpset : kMlOpset});
    for (const auto& [name, since] : kSince) opset = node.op->name == name ? std::max(opset, since) : opset;
    for (const auto& [name, body] : node.bodies) opsets(*body, onnx, ml);
  }
}

void write_message(const std::filesystem::path& file, const google::protobuf::MessageLite& message) {
  std::ofstream(file, std::ios::binary) << message.SerializeAsString();
}

void write_data(const Model& model, const std::vector<int>& values, std::string_view kind, size_t set,
                const std::filesystem::path& folder) {
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = model.values[static_cast<size_t>(values[i])];
    pb::TensorProto tensor;
    set_tensor(tensor, value.at(set), value.name);
    write_message(folder / fmt::format("{}_{}.pb", kind, i), tensor);
  }
}

void print_graph(const Model& model, const std::string& indent, std::string& out) {
  auto shown = [&](int v) {
    if (v < 0) return std::string("_");
    const Value& value = model.values[static_cast<size_t>(v)];
    std::string text = fmt::format("{}:{}{}", value.name, to_string(value.data.type()),
                                   value.kind == Kind::Constant ? "!"
                                   : value.dynamic              ? "?"
                                                                : "");
    for (const Tensor& other : value.others)
      if (other.type() != value.data.type()) text += "|" + to_string(other.shape());
    return text;
  };
  for (const Node& node : model.nodes) {
    out += indent;
    for (int v : node.outputs) out += shown(v) + " ";
    out += fmt::format("= {}(", node.op->name);
    for (int v : node.inputs) out += (v == node.inputs.front() ? "" : ", ") + shown(v);
    out += ")\n";
    for (const auto& [name, body] : node.bodies) {
      out += indent + "  " + name + ":\n";
      print_graph(*body, indent + "    ", out);
    }
  }
}

}  // namespace

namespace {

pb::ModelProto message_of(const Model& model) {
  pb::ModelProto message;
  message.set_ir_version(kIrVersion);
  int onnx = kOpset, ml = 0;
  opsets(model, onnx, ml);
  message.add_opset_import()->set_version(onnx);
  if (ml > 0) {
    auto& import = *message.add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(ml);
  }
  write_graph(model, *message.mutable_graph());
  return message;
}

}  // namespace

std::string to_onnx(const Model& model) {
  return message_of(model).SerializeAsString();
}

void write_case(const Model& model, const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write_message(folder / "model.onnx", message_of(model));
  for (size_t set = 0; set < data_sets(model); ++set) {
    const auto data = folder / fmt::format("test_data_set_{}", set);
    std::filesystem::create_directories(data);
    write_data(model, model.inputs, "input", set, data);
    write_data(model, model.outputs, "output", set, data);
  }
}

std::string to_text(const Model& model) {
  std::string out;
  print_graph(model, "  ", out);
  return out;
}

}  // namespace mrvlc::graphs
