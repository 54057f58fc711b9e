// The operator of fences is in no table: nothing but the passes between raise_fences and take_fences meets
// it.
#include "mrvlc/passes/fences.h"

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

bool is_fence(const Node& n) {
  return n.op == &fence_op();
}

void raise(Rewriter& rw, NodeId user, size_t input, int64_t label) {
  const Graph& g = rw.graph();
  const ValueId value = g.node(user).inputs[input];
  std::vector<Attr> attrs = ir::default_attrs(fence_op());
  ir::set_attr(fence_op(), attrs, "label", label);
  const NodeId from[] = {user};
  const NodeId fence = rw.create(fence_op(), {value}, std::move(attrs), {type_of(g, value)}, from);
  rw.set_input(user, input, rw.output(fence));
}

// Through fences that came to stand behind each other; of their labels what any of them says.
ValueId before_fences(const Graph& g, ValueId value, int64_t& label) {
  for (const Node* n = producer(g, value); n != nullptr && is_fence(*n); n = producer(g, value)) {
    label |= n->int_attr("label");
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
  Rewriter rw(graph, "fence");
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
      if ((label & 1) != 0) borders.emplace(from, id);
    }
  }
  Rewriter rw(graph, "fence");
  for (NodeId id : fences) bypass(rw, id, graph.node(id).inputs[0], "the passes are over");
  return borders;
}

}  // namespace mrvlc::passes
