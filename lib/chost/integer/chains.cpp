// What lies between DequantizeLinear and QuantizeLinear, in one loop: no floats in the arena. Element-wise
// operators are rounded each by itself, as they would be in loops of their own; a function of one byte is a
// table of 256; a pool has the floats of one channel at a time.
#include <algorithm>

#include "function.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::chost {
namespace {

constexpr size_t kMaxChain = 24;

bool is_byte_type(ElementType e) {
  return e == ElementType::I8 || e == ElementType::U8;
}

const Tensor* one_constant(const ir::Graph& graph, const ir::Node& node, size_t input) {
  if (input >= node.inputs.size() || !node.inputs[input].valid()) return nullptr;
  const Tensor* t = graph.constant(node.inputs[input]);
  return t != nullptr && t->elements() == 1 ? t : nullptr;
}

// DequantizeLinear or QuantizeLinear with one scale of float32, whose other end are bytes.
bool is_plain(const ir::Graph& graph, const ir::Node& node, ir::ValueId bytes, ir::ValueId floats) {
  const Tensor* scale = one_constant(graph, node, 1);
  const bool no_zero = node.inputs.size() < 3 || !node.inputs[2].valid();
  return scale != nullptr && scale->elem() == ElementType::F32 && ops::attr::block_size(node) == 0 &&
         (no_zero || one_constant(graph, node, 2) != nullptr) && is_byte_type(graph.value(bytes).type.elem) &&
         graph.value(floats).type.elem == ElementType::F32 && !ops::has_dynamic_shapes(graph, node);
}

// Makes floats of integers, each by itself.
bool is_widening(const ir::Graph& graph, const ir::Node& node) {
  if (node.is(Op::DequantizeLinear)) return is_plain(graph, node, node.inputs[0], node.outputs[0]);
  if (!node.is(Op::Cast) || ops::has_dynamic_shapes(graph, node)) return false;
  return graph.value(node.inputs[0]).type.elem == ElementType::I32 &&
         graph.value(node.outputs[0]).type.elem == ElementType::F32;
}

bool is_pool(const ir::Node& node) {
  return node.is(Op::AveragePool, Op::GlobalAveragePool, Op::GlobalMaxPool);
}

int64_t zero_of(const ir::Graph& graph, const ir::Node& node) {
  const Tensor* zero = one_constant(graph, node, 2);
  return zero == nullptr ? 0 : zero->as_int(0);
}

float scale_of(const ir::Graph& graph, const ir::Node& node) {
  return static_cast<float>(graph.constant(node.inputs[1])->as_double(0));
}

std::string float_literal(float v) {
  return ops::c_literal(static_cast<double>(v), ElementType::F32);
}

class ChainFinder {
 public:
  ChainFinder(const ir::Graph& graph, const std::function<bool(ir::NodeId)>& is_free)
      : graph_(graph), is_free_(is_free) {}

  // In the order in which they are computed; empty: there is nothing to gain.
  std::vector<ir::NodeId> run(const ir::Node& quantize) {
    if (!is_plain(graph_, quantize, quantize.outputs[0], quantize.inputs[0])) return {};
    shape_ = &graph_.value(quantize.outputs[0]).type.shape;
    if (const ir::Node* pool = inside(quantize.inputs[0]); pool != nullptr && is_pool(*pool)) {
      const ir::Node* d = inside(pool->inputs[0]);
      if (d == nullptr || !d->is(Op::DequantizeLinear) || !is_widening(graph_, *d)) return {};
      return {d->id, pool->id, quantize.id};
    }
    take(quantize.inputs[0], 0);
    if (!widens_ || nodes_.size() > kMaxChain) return {};
    nodes_.push_back(quantize.id);
    return std::move(nodes_);
  }

 private:
  // The node that makes the value for nobody else, if it may be part of the loop.
  const ir::Node* inside(ir::ValueId v) const {
    const ir::NodeId id = graph_.value(v).producer;
    if (!id.valid() || !is_free_(id) || graph_.use_count(v) != 1 || graph_.is_output(v)) return nullptr;
    return &graph_.node(id);
  }

  // A product's epilogue takes it.
  bool is_behind_product(const ir::Node& node) const {
    return std::ranges::any_of(node.inputs, [&](ir::ValueId v) {
      const ir::Node* producer = v.valid() ? inside(v) : nullptr;
      return producer != nullptr && (is_matrix_product(*producer) || is_packed_conv(graph_, *producer));
    });
  }

  void take(ir::ValueId v, size_t depth) {
    const ir::Node* node = v.valid() ? inside(v) : nullptr;
    if (node == nullptr || depth > kMaxChain || nodes_.size() > kMaxChain) return;
    if (is_widening(graph_, *node)) {
      widens_ = true;
    } else {
      if (!is_elementwise(*node) || !all_f32(graph_, *node) || is_behind_product(*node)) return;
      if (graph_.value(v).type.shape != *shape_) return;
      for (ir::ValueId operand : node->inputs) take(operand, depth + 1);
    }
    nodes_.push_back(node->id);
  }

  const ir::Graph& graph_;
  const std::function<bool(ir::NodeId)>& is_free_;
  const Shape* shape_ = nullptr;
  std::vector<ir::NodeId> nodes_;
  bool widens_ = false;
};

// Whether the chain is a function of one byte: an operand each, and numbers.
bool is_function(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes) {
  if (!graph.node(nodes[0]).is(Op::DequantizeLinear)) return false;
  for (size_t k = 1; k + 1 < nodes.size(); ++k) {
    const ir::Node& node = graph.node(nodes[k]);
    const ir::ValueId before = graph.node(nodes[k - 1]).outputs[0];
    if (ops::op_def(node).max_inputs < 0 && node.inputs.size() != 2) return false;
    for (ir::ValueId v : node.inputs)
      if (v.valid() && v != before && (!graph.is_constant(v) || graph.value(v).type.elements() != 1))
        return false;
  }
  return graph.value(graph.node(nodes[0]).inputs[0]).type.shape ==
         graph.value(graph.node(nodes.back()).outputs[0]).type.shape;
}

Tensor byte_table(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes) {
  const ir::Node &first = graph.node(nodes[0]), &last = graph.node(nodes.back());
  const ElementType from = graph.value(first.inputs[0]).type.elem,
                    to = graph.value(last.outputs[0]).type.elem;
  const ops::IntRange codes = ops::range_of(from);
  std::vector<uint8_t> bytes(256);
  for (int64_t code = codes.low; code <= codes.high; ++code) {
    float v = static_cast<float>(code - zero_of(graph, first)) * scale_of(graph, first);
    for (size_t k = 1; k + 1 < nodes.size(); ++k)
      v = ops::function_value(graph, graph.node(nodes[k]), graph.node(nodes[k - 1]).outputs[0], v);
    const int64_t q = ops::quantized(v, scale_of(graph, last), zero_of(graph, last), ops::range_of(to));
    bytes[static_cast<uint8_t>(code)] = static_cast<uint8_t>(q);
  }
  return Tensor::of(ElementType::U8, {256}, bytes);
}

void emit_table(Function& f) {
  const ir::Graph& graph = f.program().graph;
  const ir::ValueId from = f.head().inputs[0], to = f.program().node(f.nodes().back()).outputs[0];
  const TensorType& type = graph.value(to).type;
  const std::string table = f.table(byte_table(graph, f.nodes())), x = f.read(from, "x0"),
                    y = f.write(to, "y0");
  f.put("const uint8_t* const table = {};", table);
  f.loop("i", type.elements());
  f.put("{}[i] = ({})table[(uint8_t){}[i]];", y, ops::c_type(type.elem), x);
  f.close();
}

// The pool sees one channel, as floats in scratch memory.
class ChannelContext : public NodeContext {
 public:
  ChannelContext(Function& f, ir::NodeId node)
      : NodeContext(f, node),
        x_(one_channel(NodeContext::in_type(0))),
        y_(one_channel(NodeContext::out_type(0))) {}
  const TensorType& in_type(size_t i) const override { return i == 0 ? x_ : NodeContext::in_type(i); }
  const TensorType& out_type(size_t) const override { return y_; }
  std::string in(size_t) const override { return "v0"; }
  std::string out(size_t) const override { return "v1"; }

 private:
  static TensorType one_channel(TensorType type) {
    type.shape[0] = type.shape[1] = 1;
    return type;
  }
  TensorType x_, y_;
};

Status emit_pool(Function& f) {
  const ir::Graph& graph = f.program().graph;
  const ir::Node &first = f.head(), &pool = f.program().node(f.nodes()[1]),
                 &last = f.program().node(f.nodes()[2]);
  const TensorType &in = graph.value(pool.inputs[0]).type, &out = graph.value(pool.outputs[0]).type;
  const int64_t channels = in.shape[0] * in.shape[1];
  if (out.elements() == 0 || channels == 0) return {};
  const int64_t x_size = in.elements() / channels, y_size = out.elements() / channels;
  const std::string x = f.read(first.inputs[0], "x0"), y = f.write(last.outputs[0], "y0");
  f.put("float* const v0 = (float*){};", f.scratch(4 * (x_size + y_size)));
  f.put("float* const v1 = v0 + {};", x_size);
  f.loop("c", channels);
  f.loop("i", x_size);
  f.put("v0[i] = {};", dequantized_text(f, first, fmt::format("{}[c * {} + i]", x, x_size)));
  f.close();
  ChannelContext context(f, pool.id);
  MRVLC_TRY(ops::op_def(pool).emit(context));
  f.loop("i", y_size);
  put_quantized(f, last, "v1[i]", fmt::format("{}[c * {} + i]", y, y_size));
  f.close();
  f.close();
  return {};
}

}  // namespace

std::string dequantized_text(const Function& f, const ir::Node& node, const std::string& x) {
  const ir::Graph& graph = f.program().graph;
  if (node.is(Op::Cast)) return fmt::format("(float){}", x);
  const int64_t zero = zero_of(graph, node);
  const std::string centred =
      zero == 0 ? x
                : fmt::format("({} - {})", x, ops::c_literal(static_cast<double>(zero), ElementType::I32));
  return fmt::format("(float){} * {}", centred, float_literal(scale_of(graph, node)));
}

// Adding and subtracting 1.5 * 2^23 rounds to nearest even for magnitudes below 2^22: the clamp comes first.
void put_quantized(Function& f, const ir::Node& node, const std::string& v, const std::string& y) {
  const ir::Graph& graph = f.program().graph;
  const ElementType elem = graph.value(node.outputs[0]).type.elem;
  const ops::IntRange range = ops::range_of(elem);
  const int64_t zero = zero_of(graph, node);
  f.put("float q = {} / {};", v, float_literal(scale_of(graph, node)));
  f.put("q = q > {0} ? q : {0};", float_literal(static_cast<float>(range.low - zero)));
  f.put("q = q < {0} ? q : {0};", float_literal(static_cast<float>(range.high - zero)));
  f.put("q = (q + 12582912.0f) - 12582912.0f;");
  f.put("{} = ({})((int32_t)q + ({}));", y, ops::c_type(elem), zero);
}

std::vector<ir::NodeId> quantised_chain(const ir::Graph& graph, const ir::Node& quantize,
                                        const std::function<bool(ir::NodeId)>& is_free) {
  return ChainFinder(graph, is_free).run(quantize);
}

bool is_quantised_chain(const Function& f) {
  return f.nodes().size() > 1 && f.program().node(f.nodes().back()).is(Op::QuantizeLinear);
}

Status emit_quantised_chain(Function& f) {
  f.round_each();
  if (is_pool(f.program().node(f.nodes()[1]))) return emit_pool(f);
  if (is_function(f.program().graph, f.nodes())) {
    emit_table(f);
  } else {
    emit_elementwise(f);
  }
  return {};
}

}  // namespace mrvlc::chost
