// sums-of-squares
//   before  %1 = Mul(%x, %x)  or Pow(%x, 2)    %2 = ReduceSum(%1, axes)
//   after   %2 = ReduceSumSquare(%x, axes)
// Preconditions: floating point; nobody else reads the squares. Safe because that is what the operator is.
// The squares are rounded in no place of their own, and nothing stores them, which fp16 could not do from 256
// on.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "written_out.h"

namespace mrvlc::passes {
namespace {

bool sum_of_squares(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node n = g.node(id);  // a copy: nodes move when others are made
  if (!n.is(Op::ReduceSum) || g.use_count(n.outputs[0]) == 0) return false;
  ValueId x = squared_operand(g, n.inputs[0]);
  if (!x.valid() || !single_use(g, n.inputs[0])) return false;
  std::vector<ValueId> inputs = n.inputs;
  inputs[0] = x;
  Nodes nodes{producer(g, n.inputs[0])->id, id};
  ValueId now = make_from(rw, Op::ReduceSumSquare, std::move(inputs), type_of(g, n.outputs[0]), nodes,
                          {{"keepdims", Attr(ops::attr::keepdims(n))},
                           {"noop_with_empty_axes", Attr(ops::attr::noop_with_empty_axes(n))}});
  replace(rw, nodes, now, "recognised as part of a sum of squares");
  return true;
}

}  // namespace

Status sums_of_squares(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "sums-of-squares", is_any<Op::ReduceSum>, sum_of_squares);
  return {};
}

}  // namespace mrvlc::passes
