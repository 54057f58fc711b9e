// Producers, uniform constants, nodes made, bypassed and erased, steps of QuantizeLinear and its inverse.
#include "util.h"

#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::passes {

const Node* producer(const Graph& graph, ValueId value) {
  if (!value.valid() || graph.value(value).kind != ir::ValueKind::Result) return nullptr;
  return &graph.node(graph.value(value).producer);
}

const Node* producer_of(const Graph& graph, ValueId value, Op op) {
  const Node* n = producer(graph, value);
  return n != nullptr && n->is(op) ? n : nullptr;
}

bool single_use(const Graph& graph, ValueId value) {
  return graph.use_count(value) == 1 && graph.value(value).users.size() == 1;
}

std::optional<double> uniform_constant(const Graph& graph, ValueId value) {
  const Tensor* t = graph.constant(value);
  // Larger ones are weights, and looking through them for every reader would cost more than it finds.
  constexpr int64_t kMostElements = 1 << 16;
  if (t == nullptr || t->elements() == 0 || t->elements() > kMostElements) return std::nullopt;
  if (!is_float(t->elem()) && !is_integer(t->elem())) return std::nullopt;
  double first = t->as_double(0);
  for (int64_t i = 1; i < t->elements(); ++i) {
    if (t->as_double(i) != first) return std::nullopt;
  }
  return first;
}

std::optional<bool> uniform_condition(const Graph& graph, ValueId value) {
  const Tensor* t = graph.constant(value);
  if (t == nullptr || t->elem() != ElementType::Bool || t->elements() == 0) return std::nullopt;
  const auto bytes = t->data<uint8_t>();
  const bool first = bytes[0] != 0;
  if (std::ranges::any_of(bytes, [&](uint8_t b) { return (b != 0) != first; })) return std::nullopt;
  return first;
}

std::optional<std::vector<int64_t>> constant_ints(const Graph& graph, ValueId value) {
  const Tensor* t = graph.constant(value);
  if (t == nullptr || !is_integer(t->elem())) return std::nullopt;
  return t->to_ints();
}

Tensor ints_tensor(const std::vector<int64_t>& values) {
  return Tensor::of(ElementType::I64, {static_cast<int64_t>(values.size())}, values);
}

Tensor scalar_tensor(ElementType elem, double value) {
  Tensor t(TensorType{elem, {}});
  t.set_double(0, value);
  return t;
}

ValueId make(Rewriter& rw, Op op, std::vector<ValueId> inputs, TensorType type,
             std::initializer_list<NodeId> from, AttrList attrs, std::string name) {
  const ir::OpSchema& schema = ops::op_def(op);
  std::vector<Attr> slots = ir::default_attrs(schema);
  for (const auto& [attr, value] : attrs) ir::set_attr(schema, slots, attr, value);
  NodeId id = rw.create(schema, std::move(inputs), std::move(slots), {std::move(type)},
                        std::span(from.begin(), from.size()), std::move(name));
  return rw.output(id);
}

namespace {

// replace_all_uses leaves the interface alone when `now` has a name of its own to keep.
bool bypass_output(Rewriter& rw, NodeId node, ValueId out, ValueId now, Because because) {
  const Graph& g = rw.graph();
  bool moved = !g.value(out).users.empty();
  if (g.node(node).is(Op::Identity) && g.node(node).inputs[0] == now) {
    if (moved) rw.replace_all_uses(out, now);
    return moved;
  }
  ValueId kept = make(rw, Op::Identity, {now}, type_of(g, now), {node});
  rw.replace_all_uses(out, kept);
  rw.replace_all_uses(kept, now);
  erase_if_unused(rw, node, because);
  return true;
}

}  // namespace

bool bypass(Rewriter& rw, NodeId node, ValueId now, Because because) {
  const Graph& g = rw.graph();
  ValueId out = g.node(node).outputs[0];
  if (out == now || !(type_of(g, out) == type_of(g, now)) || g.use_count(out) == 0) return false;
  bool keeps_name = g.value(now).kind != ir::ValueKind::Result || g.is_output(now);
  if (g.is_output(out) && keeps_name) return bypass_output(rw, node, out, now, because);
  rw.replace_all_uses(out, now);
  erase_if_unused(rw, node, because);
  return true;
}

void erase_if_unused(Rewriter& rw, NodeId node, Because because) {
  const Graph& g = rw.graph();
  const Node& n = g.node(node);
  if (n.erased) return;
  if (std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return g.use_count(v) != 0; })) return;
  rw.erase(node, because);
}

std::vector<NodeId> origins(const Graph& graph, std::initializer_list<NodeId> nodes,
                            std::initializer_list<ValueId> constants) {
  constexpr size_t kMost = 64;
  std::vector<NodeId> out(nodes);
  for (ValueId c : constants) {
    if (!graph.is_constant(c)) continue;
    for (NodeId n : graph.value(c).made_from) {
      if (out.size() < kMost && std::find(out.begin(), out.end(), n) == out.end()) out.push_back(n);
    }
  }
  return out;
}

bool reserves(const PassContext& context, const Graph& graph, std::initializer_list<NodeId> nodes) {
  return context.reserved && std::ranges::any_of(nodes, [&](NodeId id) {
           return id.valid() && context.reserved(graph, graph.node(id));
         });
}

bool is_static(const Graph& graph, const Node& node) {
  return !ops::has_dynamic_shapes(graph, node);
}

QuantizeStep quantize_step(const Graph& graph, const Node* node, bool one_scale) {
  if (node == nullptr || node->inputs.size() < 3 || !node->inputs[2].valid()) return {};
  const Tensor* scale = graph.constant(node->inputs[1]);
  if (scale == nullptr || !graph.is_constant(node->inputs[2]) || scale->elem() != ElementType::F32) return {};
  if ((one_scale && scale->elements() != 1) || ops::attr::block_size(*node) != 0) return {};
  return {node->id, node->inputs[0], node->inputs[1], node->inputs[2]};
}

}  // namespace mrvlc::passes
