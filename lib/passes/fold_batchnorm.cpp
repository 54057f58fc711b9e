// fold-batchnorm
//   before  %1 = Conv(%x, %w, %b)    %2 = BatchNormalization(%1, %gamma, %beta, %mean, %var)
//   after   %2 = Conv(%x, %w2, %b2)
// Preconditions: inference mode; statistics, weights and bias constant; the layer (Conv, ConvTranspose, Gemm)
// has no other reader and its weights no other user; no weight overflows its type, or for
// an accelerator leaves fp16; the result is not rounded to integers next. Safe because the layer is
// linear in weights and bias: s*(W x + b) + t = (s W) x + (s b + t), channel by channel. The new numbers are
// computed in double and rounded once.
#include "affine.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

bool fold_into_weights(Rewriter& rw, NodeId id, bool half_weights) {
  const Graph& g = rw.graph();
  auto affine = batchnorm_affine(g, g.node(id));
  return affine &&
         fold_into_producer(rw, id, g.node(id).inputs[0], *affine,
                            ir::folded("folded into the weights of the layer before it"), half_weights);
}

}  // namespace

Status fold_batchnorm(Graph& graph, const PassContext& context, bool& changed) {
  changed = rewrite_all_nodes(
      graph, "fold-batchnorm", is_any<Op::BatchNormalization>,
      [&](Rewriter& rw, NodeId id) { return fold_into_weights(rw, id, context.half_weights); });
  return {};
}

}  // namespace mrvlc::passes
