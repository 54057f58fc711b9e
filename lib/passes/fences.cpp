// The operator of fences is in no table: nothing but the passes between raise_fences and take_fences meets
// it.
#include "mrvlc/passes/fences.h"

#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

Result<std::vector<TensorType>> infer_fence(const ops::InferContext& c) {
  return std::vector<TensorType>{c.type(0)};
}

Status eval_fence(const ops::EvalContext& c) {
  c.out() = c.in(0);
  return {};
}

const ops::OpDef& fence_op() {
  static const ops::OpDef op = [] {
    ops::OpDef d;
    d.name = "Fence";
    d.domain = "mrvlc";
    d.kind = Op::None;
    d.attrs = {{"label", ir::AttrKind::Int, int64_t{0}}};
    d.traits = {.work = ops::Work::Linear, .passes_size_on = true};
    d.infer = d.infer_dynamic = infer_fence;
    d.eval = eval_fence;
    return d;
  }();
  return op;
}

constexpr int64_t kBorder = 1;  // the lowest bit of a label

}  // namespace

bool is_fence(const Node& node) {
  return node.op == &fence_op();
}

namespace {

ValueId fenced(Rewriter& rw, ValueId value, NodeId user, int64_t label) {
  std::vector<Attr> attrs = ir::default_attrs(fence_op());
  ir::set_attr(fence_op(), attrs, "label", label);
  const NodeId from[] = {user};
  return rw.output(rw.create(fence_op(), {value}, std::move(attrs), {type_of(rw.graph(), value)}, from));
}

// The DequantizeLinear that makes `value` of bytes, where nothing but a border is asked for; else null.
// Numbers cross a border as an accelerator has them, rounded, integers as they are: the border stands in
// front of it.
const Node* moves_behind(const Graph& g, ValueId value, int64_t label) {
  const Node* n = producer_of(g, value, Op::DequantizeLinear);
  return n != nullptr && label == kBorder && is_byte(type_of(g, n->inputs[0]).elem) ? n : nullptr;
}

void raise(Rewriter& rw, NodeId user, size_t input, int64_t label) {
  const Graph& g = rw.graph();
  const ValueId value = g.node(user).inputs[input];
  const Node* d = moves_behind(g, value, label);
  if (d == nullptr) return rw.set_input(user, input, fenced(rw, value, user, label));
  const NodeId from[] = {d->id};
  const ir::OpSchema& schema = *d->op;
  std::vector<ValueId> inputs = d->inputs;
  std::vector<Attr> attrs = d->attrs;
  inputs[0] = fenced(rw, inputs[0], user, label);
  const NodeId own = rw.create(schema, std::move(inputs), std::move(attrs), {type_of(g, value)}, from);
  const NodeId old = from[0];
  rw.set_input(user, input, rw.output(own));
  erase_if_unused(rw, old, "a border stands in front of what reads it");
}

// Through fences that came to stand behind each other; of their labels what any of them says.
ValueId before_fences(const Graph& g, ValueId value, int64_t& label) {
  for (const Node* n = producer(g, value); n != nullptr && is_fence(*n); n = producer(g, value)) {
    label |= ops::attr::label(*n);
    value = n->inputs[0];
  }
  return value;
}

}  // namespace

void raise_fences(Graph& graph, const std::function<int64_t(ValueId, NodeId)>& label) {
  struct Edge {
    NodeId user;
    size_t input;
    int64_t label;
  };
  std::vector<Edge> edges;  // labels are asked of the graph as it is
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (!n.inputs[i].valid()) continue;
      if (const int64_t l = label(n.inputs[i], id); l != 0) edges.push_back({id, i, l});
    }
  }
  Rewriter rw(graph, ir::kFence);
  for (const Edge& e : edges) raise(rw, e.user, e.input, e.label);
}

std::set<std::pair<ValueId, NodeId>> take_fences(Graph& graph) {
  std::set<std::pair<ValueId, NodeId>> borders;
  std::vector<NodeId> fences;
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (is_fence(n)) {
      fences.push_back(id);
      continue;
    }
    for (ValueId v : n.inputs) {
      int64_t label = 0;
      const ValueId from = before_fences(graph, v, label);
      if ((label & kBorder) != 0) borders.emplace(from, id);
    }
  }
  Rewriter rw(graph, ir::kFence);
  for (NodeId id : fences) bypass(rw, id, graph.node(id).inputs[0], "the passes are over");
  return borders;
}

}  // namespace mrvlc::passes
