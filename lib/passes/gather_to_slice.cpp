// gather-to-slice
//   before  %1 = Gather(%x, 1) {axis = 2}                       (%x [1,4,2,8])
//   after   %2 = Slice(%x, [1], [2], [2], [1])   %1 = Reshape(%2, [1,4,8])
// Preconditions: the indices are constant, in range, and an arithmetic progression (one index, all even
// channels, a reversal). Safe because such a Gather reads exactly the elements of a strided slice, in its
// order; a scalar index or indices of rank above 1 change the shape only. Slices move on the accelerator,
// gathers do not.
#include <array>
#include <limits>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

struct Progression {
  int64_t start = 0, step = 1, count = 0;
};

// Negative indices count from the end. nullopt: out of range, empty, or not a progression.
std::optional<Progression> progression(const std::vector<int64_t>& indices, int64_t size) {
  if (indices.empty()) return std::nullopt;
  auto at = [&](size_t i) { return indices[i] < 0 ? indices[i] + size : indices[i]; };
  for (size_t i = 0; i < indices.size(); ++i) {
    if (at(i) < 0 || at(i) >= size) return std::nullopt;
  }
  Progression p{at(0), indices.size() > 1 ? at(1) - at(0) : 1, static_cast<int64_t>(indices.size())};
  if (p.step == 0) return std::nullopt;
  for (size_t i = 1; i < indices.size(); ++i) {
    if (at(i) - at(i - 1) != p.step) return std::nullopt;
  }
  return p;
}

bool rewrite(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!n.is(Op::Gather) || g.is_constant(n.inputs[0])) return false;
  auto indices = constant_ints(g, n.inputs[1]);
  TensorType data = type_of(g, n.inputs[0]), result = type_of(g, n.outputs[0]);
  auto axis = ops::normalize_axis(ops::attr::axis(n), data.rank());
  if (!indices || !axis.ok()) return false;
  auto p = progression(*indices, data.shape[static_cast<size_t>(*axis)]);
  if (!p) return false;
  // One past the last element; below 0 a reversed slice needs the value that means "to the beginning".
  int64_t end = p->start + p->step * p->count;
  if (end < 0) end = std::numeric_limits<int64_t>::min();
  TensorType sliced = data;
  sliced.shape[static_cast<size_t>(*axis)] = p->count;
  ValueId x = n.inputs[0];
  NodeId from[] = {id};
  auto ints = [&](int64_t v) { return rw.constant(ints_tensor({v}), from); };
  ValueId start = ints(p->start), stop = ints(end), axes = ints(*axis), step = ints(p->step);
  ValueId out = make(rw, Op::Slice, {x, start, stop, axes, step}, sliced, {id});
  if (!(sliced == result)) {
    ValueId shape = rw.constant(ints_tensor(result.shape), from);
    out = make(rw, Op::Reshape, {out, shape}, result, {id});
  }
  return bypass(rw, id, out, "replaced by a slice of the same elements");
}

}  // namespace

Status gather_to_slice(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "gather-to-slice", is_any<Op::Gather>, rewrite);
  return {};
}

}  // namespace mrvlc::passes
