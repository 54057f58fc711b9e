// fold-scale
//   before  %1 = Conv(%x, %w)    %2 = Mul(%1, %s)    %3 = Add(%2, %t)       (%s, %t constant, [C,1,1])
//   after   %3 = Conv(%x, %w2, %b2)
// Preconditions and safety as for fold-batchnorm; the constants vary along the channel axis at most.
#include "affine.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

bool fold(Rewriter& rw, NodeId id) {
  ValueId data;
  auto affine = arithmetic_affine(rw.graph(), rw.graph().node(id), data);
  return affine &&
         fold_into_producer(rw, id, data, *affine, "folded into the weights of the layer before it");
}

}  // namespace

Status fold_scale(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "fold-scale", fold);
  return {};
}

}  // namespace mrvlc::passes
