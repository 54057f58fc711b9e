// quantize-early
//   before  %2 = MaxPool(%1)    %3 = Reshape(%2, %s)    %4 = QuantizeLinear(%3, %scale, %zero)
//   after   %5 = QuantizeLinear(%1, %scale, %zero)    %6 = MaxPool(%5)    %4 = Reshape(%6, %s)
// Preconditions: one scale above 0 and one zero point, integers of 8 bits; nothing else reads what lies
// between. Safe because quantising keeps the order of numbers, so that the greatest stays the greatest, and
// moving elements and quantising each of them commute. Integers take less memory, and what made %1 can make
// them.
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool of_one_scale(const Graph& g, const Node& quantize) {
  const Tensor* scale = g.constant(quantize.inputs[1]);
  const ElementType elem = type_of(g, quantize.outputs[0]).elem;
  const bool zero =
      quantize.inputs.size() < 3 || !quantize.inputs[2].valid() || g.is_constant(quantize.inputs[2]);
  return (elem == ElementType::I8 || elem == ElementType::U8) && zero && scale != nullptr &&
         scale->elements() == 1 && scale->as_double(0) > 0;
}

bool keeps_order(const Graph& g, const Node& n) {
  if (n.is(Op::MaxPool)) return n.outputs.size() == 1 || g.use_count(n.outputs[1]) == 0;
  const ops::Moves how = ops::traits(n).moves;
  return n.outputs.size() == 1 && (how == ops::Moves::Same || how == ops::Moves::Rearranged);
}

bool move_before(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& quantize = g.node(id);
  const Node* move = producer(g, quantize.inputs[0]);
  if (move == nullptr || !single_use(g, quantize.inputs[0]) || !keeps_order(g, *move) ||
      !of_one_scale(g, quantize))
    return false;
  if (move->inputs.empty() || g.is_constant(move->inputs[0])) return false;
  const NodeId moved = move->id, from[] = {moved}, back[] = {id};
  std::vector<ValueId> operands = move->inputs, scaled = quantize.inputs;
  TensorType before = type_of(g, operands[0]), after = type_of(g, quantize.outputs[0]);
  before.elem = after.elem;
  const ir::OpSchema &move_op = *move->op, &quantize_op = *quantize.op;
  const std::vector<Attr> move_attrs = move->attrs;
  std::vector<Attr> attrs = quantize.attrs;
  ir::set_attr(quantize_op, attrs, "axis",
               int64_t{0});  // of one scale it says nothing, but must fit the rank
  scaled[0] = operands[0];
  operands[0] = rw.output(rw.create(quantize_op, std::move(scaled), std::move(attrs), {before}, back));
  std::vector<TensorType> types = {after};
  const NodeId now = rw.create(move_op, std::move(operands), move_attrs, std::move(types), from);
  if (!bypass(rw, id, rw.output(now), "moved in front of what moves its elements")) return false;
  erase_if_unused(rw, moved, "moves integers, behind QuantizeLinear");
  return true;
}

}  // namespace

Status quantize_early(Graph& graph, const PassContext&, bool& changed) {
  // A chain of moves takes as many rounds.
  bool again = true;
  for (int round = 0; again && round < 8; ++round) {
    again = rewrite_nodes(graph, "quantize-early", is_any<Op::QuantizeLinear>, move_before);
    changed = changed || again;
  }
  return {};
}

}  // namespace mrvlc::passes
