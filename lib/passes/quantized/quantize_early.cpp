// quantize-early
//   before  %2 = MaxPool(%1)    %3 = Reshape(%2, %s)    %4 = QuantizeLinear(%3, %scale, %zero)
//   after   %5 = QuantizeLinear(%1, %scale, %zero)    %6 = MaxPool(%5)    %4 = Reshape(%6, %s)
// and a Concat in the same way, each operand by itself; a Slice only where its operand is made of integers of
// the same scale and zero point: it would be more to quantise otherwise. Then what DequantizeLinear and
// QuantizeLinear of the same scale and zero point leave as it is goes. Preconditions: one scale above 0 and
// one zero point, integers of 8 bits; nothing else reads what lies between. Safe because quantising keeps the
// order of numbers, so that the greatest stays the greatest, and moving elements and quantising each of them
// commute. Integers take less memory, and what made %1 can make them.
#include "mrvlc/ops/op_kind.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool of_one_scale(const Graph& g, const Node& quantize) {
  const Tensor* scale = g.constant(quantize.inputs[1]);
  const bool zero =
      quantize.inputs.size() < 3 || !quantize.inputs[2].valid() || g.is_constant(quantize.inputs[2]);
  return is_byte(type_of(g, quantize.outputs[0]).elem) && zero && scale != nullptr &&
         scale->elements() == 1 && scale->as_double(0) > 0;
}

bool keeps_order(const Graph& g, const Node& n) {
  if (n.is(Op::MaxPool)) return n.outputs.size() == 1 || g.use_count(n.outputs[1]) == 0;
  if (n.is(Op::Concat, Op::Slice)) return true;
  const ops::Moves how = ops::traits(n).moves;
  return n.outputs.size() == 1 && (how == ops::Moves::Same || how == ops::Moves::Rearranged);
}

bool same_number(const Graph& g, ValueId a, ValueId b) {
  const Tensor *x = g.constant(a), *y = g.constant(b);
  return x != nullptr && y != nullptr && x->elem() == y->elem() && x->elements() == 1 && y->elements() == 1 &&
         x->as_double(0) == y->as_double(0);
}

// The DequantizeLinear that makes `v` of integers of the same scale and zero point; else null.
const Node* dequantized_alike(const Graph& g, ValueId v, const Node& quantize) {
  const Node* d = producer_of(g, v, Op::DequantizeLinear);
  if (d == nullptr || quantize.inputs.size() < 3 || d->inputs.size() < 3) return nullptr;
  const bool alike =
      same_number(g, quantize.inputs[1], d->inputs[1]) && same_number(g, quantize.inputs[2], d->inputs[2]);
  return alike ? d : nullptr;
}

// QuantizeLinear of `id`, of another value.
ValueId quantized(Rewriter& rw, NodeId id, ValueId v) {
  const Graph& g = rw.graph();
  const Node& quantize = g.node(id);
  const NodeId from[] = {id};
  std::vector<ValueId> inputs = quantize.inputs;
  inputs[0] = v;
  TensorType type = type_of(g, v);
  type.elem = type_of(g, quantize.outputs[0]).elem;
  const ir::OpSchema& schema = *quantize.op;
  std::vector<Attr> attrs = quantize.attrs;
  ir::set_attr(schema, attrs, "axis", int64_t{0});  // of one scale it says nothing, but must fit the rank
  return rw.output(rw.create(schema, std::move(inputs), std::move(attrs), {type}, from));
}

bool move_before(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const Node& quantize = g.node(id);
  const Node* move = producer(g, quantize.inputs[0]);
  if (move == nullptr || !single_use(g, quantize.inputs[0]) || !keeps_order(g, *move) ||
      !of_one_scale(g, quantize) || reserves(context, g, {move->id, id}))
    return false;
  if (move->inputs.empty() || g.is_constant(move->inputs[0])) return false;
  if (move->is(Op::Slice) && dequantized_alike(g, move->inputs[0], quantize) == nullptr) return false;
  const NodeId moved = move->id, from[] = {moved};
  const ir::OpSchema& schema = *move->op;
  std::vector<ValueId> operands = move->inputs;
  std::vector<Attr> attrs = move->attrs;
  std::vector<TensorType> types = {type_of(g, quantize.outputs[0])};
  const size_t count = move->is(Op::Concat) ? operands.size() : 1;
  for (size_t i = 0; i < count; ++i) operands[i] = quantized(rw, id, operands[i]);
  const NodeId now = rw.create(schema, std::move(operands), std::move(attrs), std::move(types), from);
  if (!bypass(rw, id, rw.output(now), "moved in front of what moves its elements")) return false;
  erase_if_unused(rw, moved, "moves integers, behind QuantizeLinear");
  return true;
}

// What it makes integers of are numbers that such integers stand for.
bool cancel(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const Node& quantize = g.node(id);
  const Node* d = dequantized_alike(g, quantize.inputs[0], quantize);
  if (d == nullptr || !of_one_scale(g, quantize) || reserves(context, g, {id})) return false;
  const NodeId dequantize = d->id;
  if (!bypass(rw, id, d->inputs[0], "makes the integers again that it is given")) return false;
  erase_if_unused(rw, dequantize, "nobody reads its numbers");
  return true;
}

}  // namespace

Status quantize_early(Graph& graph, const PassContext& context, bool& changed) {
  const auto move = [&](Rewriter& rw, NodeId id) { return move_before(rw, id, context); };
  const auto drop = [&](Rewriter& rw, NodeId id) { return cancel(rw, id, context); };
  // A chain of moves takes as many rounds.
  bool again = true;
  for (int round = 0; again && round < 8; ++round) {
    again = rewrite_nodes(graph, "quantize-early", is_any<Op::QuantizeLinear>, move, drop);
    changed = changed || again;
  }
  return {};
}

}  // namespace mrvlc::passes
