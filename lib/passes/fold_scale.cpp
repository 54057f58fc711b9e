// fold-scale
//   before  %1 = Conv(%x, %w)    %2 = Mul(%1, %s)    %3 = Add(%2, %t)       (%s, %t constant, [C,1,1])
//   after   %3 = Conv(%x, %w2, %b2)
// Preconditions and safety as for fold-batchnorm; the constants vary along the channel axis at most. Where
// the result is rounded to an integer next (Floor, Ceil, Round, Cast, QuantizeLinear), nothing is folded.
#include "affine.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

bool fold_scale_into(Rewriter& rw, NodeId id, bool half_weights) {
  const Graph& g = rw.graph();
  ValueId data;
  auto affine = arithmetic_affine(g, g.node(id), data);
  return affine &&
         fold_into_producer(rw, id, data, *affine,
                            ir::folded("folded into the weights of the layer before it"), half_weights);
}

}  // namespace

Status fold_scale(Graph& graph, const PassContext& context, bool& changed) {
  changed = rewrite_all_nodes(
      graph, "fold-scale", is_any<Op::Mul, Op::Add, Op::Div, Op::Sub>,
      [&](Rewriter& rw, NodeId id) { return fold_scale_into(rw, id, context.half_weights); });
  return {};
}

}  // namespace mrvlc::passes
