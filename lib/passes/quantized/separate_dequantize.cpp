// separate-dequantize
//   before  %1 = DequantizeLinear(%q, %s, %z)    %2 = Transpose(%1)    %3 = Conv(%2, %w)    %4 = Relu(%1)
//   after   %5 = Transpose(%q)    %6 = DequantizeLinear(%5, %s, %z)    %3 = Conv(%6, %w)
//           %7 = DequantizeLinear(%q, %s, %z)    %4 = Relu(%7)
// Preconditions: %q is computed at run time; what moves behind a Transpose or a reshape has one scale.
// Safe because moving elements and scaling each of them commute, and a node may be computed twice.
// For targets that compute with integers. A layer of a library begins with the DequantizeLinear in front of
// it, which nothing else may read then.
#include <algorithm>

#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool has_one_scale(const Graph& g, const Node& dequantize) {
  return type_of(g, dequantize.inputs[1]).elements() == 1;
}

// Those of its first operand alone.
bool moves_elements(const Node& n) {
  if (n.is(Op::Concat)) return false;
  const ops::Moves how = ops::traits(n).moves;
  return how == ops::Moves::Same || how == ops::Moves::Rearranged;
}

bool move_behind(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const Node& move = g.node(id);
  if (move.outputs.size() != 1 || reserves(context, g, {id})) return false;
  const Node* d = producer_of(g, input_or_none(move, 0), Op::DequantizeLinear);
  if (d == nullptr || g.is_constant(d->inputs[0]) || !has_one_scale(g, *d)) return false;
  const TensorType type = type_of(g, move.outputs[0]);
  TensorType moved = type;
  moved.elem = type_of(g, d->inputs[0]).elem;
  std::vector<ValueId> operands = move.inputs, scaled = d->inputs;
  operands[0] = d->inputs[0];
  const NodeId from[] = {id}, back[] = {d->id};
  const ir::OpSchema& schema = *d->op;
  std::vector<Attr> attrs = d->attrs;
  ir::set_attr(schema, attrs, "axis", int64_t{0});  // of one scale it says nothing, but must fit the rank
  const NodeId old = d->id;
  scaled[0] = rw.output(rw.create(*move.op, std::move(operands), move.attrs, {moved}, from));
  const NodeId now = rw.create(schema, std::move(scaled), std::move(attrs), {type}, back);
  if (!bypass(rw, id, rw.output(now), "moves integers, in front of DequantizeLinear")) return false;
  erase_if_unused(rw, old, "moved behind what moves its elements");
  return true;
}

// Each reader but the first has a node of its own; where it is an output of the model, each reader.
bool separate(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  if (g.is_constant(g.node(id).inputs[0])) return false;
  const ValueId out = g.node(id).outputs[0];
  std::vector<NodeId> readers;
  for (NodeId user : g.value(out).users)
    if (std::ranges::find(readers, user) == readers.end()) readers.push_back(user);
  if (!readers.empty() && !g.is_output(out)) readers.erase(readers.begin());
  for (NodeId reader : readers) {
    const NodeId from[] = {id};
    const Node& d = g.node(id);
    const ValueId own = rw.output(rw.create(*d.op, d.inputs, d.attrs, {type_of(g, out)}, from));
    for (size_t i = 0; i < g.node(reader).inputs.size(); ++i)
      if (g.node(reader).inputs[i] == out) rw.set_input(reader, i, own);
  }
  return !readers.empty();
}

}  // namespace

Status separate_dequantize(Graph& graph, const PassContext& context, bool& changed) {
  const auto move = [&](Rewriter& rw, NodeId id) { return move_behind(rw, id, context); };
  changed = rewrite_nodes(graph, "separate-dequantize", moves_elements, move);
  changed = rewrite_nodes(graph, "separate-dequantize", is_any<Op::DequantizeLinear>, separate) || changed;
  return {};
}

}  // namespace mrvlc::passes
