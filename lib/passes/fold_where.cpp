// fold-where
//   before  %1 = Where(true, %x, %y)
//   after   %x           as Expand(%x, shape of %1) where %x is smaller
// Preconditions: a constant condition whose elements are all the same.
// Safe because Where passes on that operand's elements and reads no other.
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool take_operand(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  const std::optional<bool> kept = uniform_condition(g, n.inputs[0]);
  if (!kept) return false;
  ValueId taken = n.inputs[*kept ? 1 : 2];
  const TensorType result = type_of(g, n.outputs[0]);
  if (!(type_of(g, taken) == result)) {
    const NodeId from[] = {id};
    const ValueId shape = rw.constant(ints_tensor(result.shape), from);
    taken = make(rw, Op::Expand, {taken, shape}, result, {id});
  }
  return bypass(rw, id, taken, "its condition is the same for all elements");
}

}  // namespace

Status fold_where(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "fold-where", is_any<Op::Where>, take_operand);
  return {};
}

}  // namespace mrvlc::passes
