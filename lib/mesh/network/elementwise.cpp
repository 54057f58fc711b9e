// Element-wise operators: functions of one integer are tables, others are computed in float32, step by step.
#include <algorithm>
#include <cmath>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/quantized.h"
#include "network/builder.h"

namespace mrvlc::mesh {
namespace {

std::optional<Step::Op> step_of(Op op) {
  switch (op) {
    case Op::Add:
      return Step::Op::Add;
    case Op::Sub:
      return Step::Op::Sub;
    case Op::Mul:
      return Step::Op::Mul;
    case Op::Div:
      return Step::Op::Div;
    case Op::Min:
      return Step::Op::Min;
    case Op::Max:
      return Step::Op::Max;
    case Op::Relu:
      return Step::Op::Relu;
    case Op::Neg:
      return Step::Op::Neg;
    default:
      return std::nullopt;
  }
}

// A function of its first operand alone: the others are constants of one element.
bool is_function(const ir::Graph& g, const ir::Node& n) {
  if (n.inputs.empty() || n.outputs.size() != 1 || ops::op_def(n).scalar == nullptr) return false;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (i == 0 ? g.is_constant(n.inputs[0]) : n.inputs[i].valid() && !g.is_constant(n.inputs[i]))
      return false;
    if (i > 0 && n.inputs[i].valid() && g.constant(n.inputs[i])->elements() != 1) return false;
  }
  return g.value(n.inputs[0]).type.shape == g.value(n.outputs[0]).type.shape;
}

}  // namespace

// Steps of another value behind those that are there.
static uint32_t append(const Numbers& from, Numbers& to) {
  const auto first_step = static_cast<uint32_t>(to.steps.size());
  const auto first_operand = static_cast<uint32_t>(to.operands.size());
  to.operands.insert(to.operands.end(), from.operands.begin(), from.operands.end());
  for (Step s : from.steps) {
    const bool loads = s.op == Step::Op::Load || s.op == Step::Op::Dequantize;
    s.a += loads ? first_operand : first_step;
    s.b += first_step;
    to.steps.push_back(std::move(s));
  }
  return static_cast<uint32_t>(to.steps.size()) - 1;
}

Result<Numbers> NetworkBuilder::numbers_of(const ir::Node& n, ir::ValueId value) {
  const auto there = stored_.find(value);
  if (there != stored_.end() && tensor(there->second).elem == Elem::F32)
    return Numbers{{there->second}, {Step{}}};
  if (const auto found = numbers_.find(value); found != numbers_.end()) return found->second;
  return refused(n, "operands are neither float32 nor integers behind a DequantizeLinear");
}

Result<Stored> NetworkBuilder::stored(const ir::Node& n, ir::ValueId value) {
  if (const auto found = stored_.find(value); found != stored_.end()) return found->second;
  if (!numbers_.contains(value)) return refused(n, "an operand is a constant where a computed one is needed");
  MRVLC_ASSIGN(const Numbers numbers, numbers_of(n, value));
  return store(n, numbers, std::nullopt, ElementType::F32, value);
}

Result<Stored> NetworkBuilder::store(const ir::Node& n, const Numbers& numbers,
                                     const std::optional<Rounding>& rounding, ElementType elem,
                                     ir::ValueId value) {
  const bool plain = numbers.steps.size() == 1 && numbers.steps[0].op == Step::Op::Load && !rounding;
  if (plain && tensor(numbers.operands[0]).elem == Elem::F32) return numbers.operands[0];
  const Stored& like = numbers.operands[0];
  const Stored y = new_stored(n, value, *elem_of(elem), like.shape, like.order);
  const ir::Value& v = g_.value(value);
  const ir::Node& names = v.kind == ir::ValueKind::Result ? g_.node(v.producer) : n;
  Layer layer = new_layer(names, Kind::Map, numbers.operands, y);
  layer.steps = numbers.steps;
  layer.rounding = rounding;
  out_.layers.push_back(std::move(layer));
  stored_[value] = y;
  return y;
}

// Appends a constant, or the steps of a value; operands are stored as `like` is. The number of the last step.
Result<uint32_t> NetworkBuilder::add_operand(const ir::Node& n, ir::ValueId value, Numbers& to,
                                             const Stored* like) {
  if (const Tensor* t = g_.constant(value)) {
    Step s{.op = Step::Op::Constant, .numbers = {}};
    for (const double v : t->to_doubles()) s.numbers.push_back(static_cast<float>(v));
    to.steps.push_back(std::move(s));
    return static_cast<uint32_t>(to.steps.size()) - 1;
  }
  MRVLC_ASSIGN(Numbers own, numbers_of(n, value));
  if (like != nullptr)
    for (Stored& s : own.operands) {
      if (s.shape != like->shape)
        return refused(n, "operands of different shapes are computed for constants only");
      s = in_order(n, s, like->order);
    }
  return append(own, to);
}

// Whether a constant has one number, or one for each of the channels that are stored last.
static bool suits(const Tensor& constant, const Stored& like) {
  if (constant.elements() == 1) return true;
  const size_t rank = like.shape.size();
  if (constant.shape().size() > rank || rank == 0) return false;
  Shape shape(rank - constant.shape().size(), 1);
  shape.insert(shape.end(), constant.shape().begin(), constant.shape().end());
  for (size_t d = 0; d < rank; ++d)
    if (shape[d] != (d == like.order.back() ? like.shape[d] : 1)) return false;
  return true;
}

// Integers to integers by a table: from an integer behind `first` through functions to a QuantizeLinear.
Status NetworkBuilder::add_table(const ir::Node& first) {
  const Numbers from = numbers_.at(first.inputs[0]);
  std::vector<const ir::Node*> chain = {&first};
  while (chain.back() != nullptr && !chain.back()->is(Op::QuantizeLinear)) {
    const ir::Node* next = sole_user(*chain.back());
    const bool follows = next != nullptr && (next->is(Op::QuantizeLinear) || is_function(g_, *next));
    chain.push_back(follows && next->inputs[0] == chain.back()->outputs[0] ? next : nullptr);
  }
  if (chain.back() == nullptr) return refused(first, "no QuantizeLinear follows it");
  MRVLC_ASSIGN(const Rounding r, rounding_of(*chain.back()));
  const bool is_unsigned = tensor(from.operands[0]).elem == Elem::U8;
  Layer layer;
  for (int byte = 0; byte < 256; ++byte) {
    const int q = is_unsigned || byte < 128 ? byte : byte - 256;
    float v = static_cast<float>(q - from.steps[0].zero) * from.steps[0].scale;
    for (size_t i = 0; i + 1 < chain.size(); ++i)
      v = ops::function_value(g_, *chain[i], chain[i]->inputs[0], v);
    layer.table.push_back(static_cast<uint8_t>(ops::quantized(v, r.scale, r.zero, {r.low, r.high})));
  }
  const ir::ValueId result = chain.back()->outputs[0];
  const Stored y = new_stored(first, result, *elem_of(g_.value(result).type.elem), from.operands[0].shape,
                              from.operands[0].order);
  layer.planned = new_layer(first, Kind::Map, from.operands, y).planned;
  out_.layers.push_back(std::move(layer));
  stored_[result] = y;
  for (size_t i = 0; i + 1 < chain.size(); ++i) done_.insert(chain[i]->id);
  return {};
}

Status NetworkBuilder::add_elementwise(const ir::Node& n) {
  const auto from = n.inputs.empty() ? numbers_.end() : numbers_.find(n.inputs[0]);
  const bool of_byte = from != numbers_.end() && from->second.operands.size() == 1 &&
                       from->second.steps.size() == 1 && from->second.steps[0].op == Step::Op::Dequantize;
  if (of_byte && is_function(g_, n) && add_table(n).ok()) return {};
  const auto step = step_of(n.kind());
  if ((!step && !n.is(Op::Clip)) || g_.value(n.outputs[0]).type.elem != ElementType::F32)
    return refused(n, "there is no kernel for this operator");
  return add_steps(n, step);
}

// `step` of two operands, or of one; none: a Clip.
Status NetworkBuilder::add_steps(const ir::Node& n, std::optional<Step::Op> step) {
  Numbers numbers;
  std::vector<uint32_t> at;
  const auto computed =
      std::ranges::find_if(n.inputs, [&](ir::ValueId v) { return v.valid() && !g_.is_constant(v); });
  if (computed == n.inputs.end()) return refused(n, "all of its operands are constants");
  MRVLC_ASSIGN(const Numbers first, numbers_of(n, *computed));
  const Stored like = first.operands[0];
  if (g_.value(n.outputs[0]).type.shape != like.shape)
    return refused(n, "its result has another shape than its operand");
  const size_t most = n.is(Op::Clip) ? 3 : 2;
  if (n.inputs.size() > most) return refused(n, "it has more than two operands");
  for (const ir::ValueId v : n.inputs) {
    if (!v.valid()) {
      at.push_back(UINT32_MAX);
      continue;
    }
    if (const Tensor* t = g_.constant(v); t != nullptr && !suits(*t, like))
      return refused(n, "a constant operand is neither one number nor one for each channel");
    MRVLC_ASSIGN(const uint32_t a, add_operand(n, v, numbers, &like));
    at.push_back(a);
  }
  const auto add = [&](Step::Op op, uint32_t a, uint32_t b) {
    numbers.steps.push_back({.op = op, .a = a, .b = b, .numbers = {}});
    return static_cast<uint32_t>(numbers.steps.size()) - 1;
  };
  if (step) {
    add(*step, at[0], at.back());
  } else {
    uint32_t last = at[0];
    if (at.size() > 1 && at[1] != UINT32_MAX) last = add(Step::Op::Max, last, at[1]);
    if (at.size() > 2 && at[2] != UINT32_MAX) last = add(Step::Op::Min, last, at[2]);
    if (last == at[0]) add(Step::Op::Max, last, last);
  }
  numbers_[n.outputs[0]] = std::move(numbers);
  // Who is read more than once, or by what is not element-wise, is computed once.
  if (sole_user(n) == nullptr)
    return stored(n, n.outputs[0]).ok() ? Status() : refused(n, "it cannot be stored");
  return {};
}

}  // namespace mrvlc::mesh
