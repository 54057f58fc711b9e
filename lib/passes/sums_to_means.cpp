// sums-to-means
//   before  %1 = ReduceSum(%x, axes)    %2 = Mul(%1, 1/n)   or Div(%1, n)    (n elements go into each sum)
//   after   %2 = ReduceMean(%x, axes)
// A change of shape between the two stays behind the mean. Preconditions: floating point; axes and n
// constant; nobody else reads the sum. Safe because that is what a mean is; it rounds in one place less. The
// accelerator sums in fp32 either way, but a sum that is stored may be beyond fp16 where no mean is.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "written_out.h"

namespace mrvlc::passes {
namespace {

struct Sum {
  const Node* node;
  const Node* reshape;  // between the sum and who asked; nullptr: none
};

std::optional<Sum> sum_of(const Graph& g, ValueId value) {
  if (!single_use(g, value)) return std::nullopt;
  const Node* n = producer(g, value);
  if (n == nullptr || n->is(Op::ReduceSum))
    return n == nullptr ? std::nullopt : std::optional(Sum{n, nullptr});
  if (ops::traits(*n).moves != ops::Moves::Same || n->is(Op::Identity)) return std::nullopt;
  const Node* sum = single_use(g, n->inputs[0]) ? producer_of(g, n->inputs[0], Op::ReduceSum) : nullptr;
  return sum == nullptr ? std::nullopt : std::optional(Sum{sum, n});
}

bool sum_to_mean(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  auto mean = g.use_count(g.node(id).outputs[0]) == 0 ? std::nullopt : scaled(g, g.node(id));
  auto sum = mean ? sum_of(g, mean->x) : std::nullopt;
  auto axes = sum ? constant_axes(g, *sum->node) : std::nullopt;
  if (!axes || !divides_by(g, *mean, reduced_count(g, sum->node->inputs[0], *axes))) return false;
  const Node n = *sum->node;  // copies: nodes move when others are made
  const std::optional<Node> shape = sum->reshape ? std::optional(*sum->reshape) : std::nullopt;
  Nodes nodes{n.id, id};
  ValueId now = make_from(rw, Op::ReduceMean, n.inputs, type_of(g, n.outputs[0]), nodes,
                          {{"keepdims", Attr(ops::attr::keepdims(n))},
                           {"noop_with_empty_axes", Attr(ops::attr::noop_with_empty_axes(n))}});
  if (shape) {
    nodes.insert(nodes.begin() + 1, shape->id);
    std::vector<ValueId> inputs = shape->inputs;
    inputs[0] = now;
    now = rw.output(rw.create(*shape->op, std::move(inputs), shape->attrs, {type_of(g, shape->outputs[0])},
                              std::span(&shape->id, 1)));
  }
  replace(rw, nodes, now, "recognised as part of a mean");
  return true;
}

}  // namespace

Status sums_to_means(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "sums-to-means", is_any<Op::Mul, Op::Div>, sum_to_mean);
  return {};
}

}  // namespace mrvlc::passes
