// dequantize-late
//   before  %1 = DequantizeLinear(%w, %s, %z) {axis = 3}    %2 = Transpose(%1) {perm = [3, 2, 0, 1]}
//   after   %2 = DequantizeLinear(%v, %s, %z) {axis = 0}            (%w, %s, %z, %v constant, %v =
//   Transpose(%w))
// and reshapes in the same way, in chains. Preconditions: one scale, or one for each index of a dimension
// that is still one behind the reshape; no blocks; the context neither asks for nor reserves one of the
// nodes. Safe because moving elements and scaling each of them commute. What knows quantised networks finds
// weights right in front of the product then, however an exporter stored them.
#include <algorithm>

#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

int64_t elements_before(const Shape& shape, size_t axis) {
  int64_t n = 1;
  for (size_t d = 0; d < axis; ++d) n *= shape[d];
  return n;
}

// Where the dimension `axis` of the operand is in the result; nullopt: in no one dimension.
std::optional<int64_t> moved_axis(const Graph& g, const Node& move, size_t axis) {
  if (move.is(Op::Transpose)) {
    const std::vector<int64_t>& perm = ops::attr::perm(move);
    const auto rank = type_of(g, move.inputs[0]).rank();
    if (perm.empty()) return static_cast<int64_t>(rank) - 1 - static_cast<int64_t>(axis);
    const auto at = std::ranges::find(perm, static_cast<int64_t>(axis));
    return at == perm.end() ? std::nullopt : std::optional<int64_t>(at - perm.begin());
  }
  const Shape &from = type_of(g, move.inputs[0]).shape, &to = type_of(g, move.outputs[0]).shape;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == from[axis] && elements_before(to, d) == elements_before(from, axis))
      return static_cast<int64_t>(d);
  }
  return std::nullopt;
}

// Of its first operand alone, the others constant.
bool moves_weights(const Graph& g, const Node& n) {
  if (n.outputs.size() != 1 || n.inputs.empty()) return false;
  if (!n.is(Op::Transpose) && ops::traits(n).moves != ops::Moves::Same) return false;
  return std::all_of(n.inputs.begin() + 1, n.inputs.end(),
                     [&](ValueId v) { return !v.valid() || g.is_constant(v); });
}

// The axis of the DequantizeLinear behind the move; nullopt: it stays where it is.
std::optional<int64_t> axis_behind(const Graph& g, const Node& move, const Node& d) {
  if (type_of(g, d.inputs[1]).elements() == 1) return 0;
  const auto rank = static_cast<int64_t>(type_of(g, d.inputs[0]).rank());
  int64_t axis = ops::attr::axis(d);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return moved_axis(g, move, static_cast<size_t>(axis));
}

// The constant `weights`, moved as `id` moves its operand; none if that cannot be known.
ValueId moved_weights(Rewriter& rw, NodeId id, ValueId weights, std::span<const NodeId> from) {
  const Graph& g = rw.graph();
  std::vector<ValueId> inputs = g.node(id).inputs;
  inputs[0] = weights;
  const TensorType type = type_of(g, g.node(id).outputs[0]).with_elem(type_of(g, weights).elem);
  const NodeId move = rw.create(*g.node(id).op, std::move(inputs), g.node(id).attrs, {type}, from);
  std::vector<const Tensor*> operands;
  for (ValueId v : g.node(move).inputs) operands.push_back(g.constant(v));
  Result<std::vector<Tensor>> moved = interp::evaluate(g, g.node(move), operands);
  rw.erase(move, ir::folded("folded: it moves constant integers"));
  return moved.ok() ? rw.constant(std::move(moved->front()), from) : ValueId();
}

bool move_weights(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const Node& move = g.node(id);
  if (!moves_weights(g, move)) return false;
  const Node* d = producer_of(g, move.inputs[0], Op::DequantizeLinear);
  if (d == nullptr || !g.is_constant(d->inputs[0]) || ops::attr::block_size(*d) != 0) return false;
  if (reserves(context, g, {id, d->id}) || (context.stays && context.stays(g, *d))) return false;
  const std::optional<int64_t> axis = axis_behind(g, move, *d);
  if (!axis) return false;
  const NodeId old = d->id, from[] = {old, id};
  const ir::OpSchema& schema = *d->op;
  std::vector<ValueId> inputs = d->inputs;
  std::vector<Attr> attrs = d->attrs;
  ir::set_attr(schema, attrs, "axis", *axis);
  inputs[0] = moved_weights(rw, id, inputs[0], from);
  if (!inputs[0].valid()) return false;
  const TensorType type = type_of(g, g.node(id).outputs[0]);
  const NodeId now = rw.create(schema, std::move(inputs), std::move(attrs), {type}, from);
  if (!bypass(rw, id, rw.output(now), "moves constant integers")) return false;
  erase_if_unused(rw, old, "makes numbers of the moved integers");
  return true;
}

}  // namespace

Status dequantize_late(Graph& graph, const PassContext& context, bool& changed) {
  if (!has_anchor(graph, is_any<Op::DequantizeLinear>)) return {};
  const auto move = [&](Rewriter& rw, NodeId id) { return move_weights(rw, id, context); };
  changed = rewrite_nodes(
      graph, "dequantize-late", [](const Node& n) { return !n.is(Op::DequantizeLinear); }, move);
  return {};
}

}  // namespace mrvlc::passes
