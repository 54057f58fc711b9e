// Conversions between types, and integers as the numbers that they stand for.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

Outcome cast(const Operands& o) {
  const ElementType from = o.type(0).elem;
  if (from == ElementType::String || (!is_float(from) && !is_integer(from) && from != ElementType::Bool))
    return {kUnknown};
  return {o.range(0)};
}

// (q - zero) * scale.
Outcome dequantize(const Operands& o) {
  const Interval scale = o.hull(1), zero = o.has(2) ? o.hull(2) : point(0);
  return {(o.hull(0) - zero) * scale};
}

// Activations between -1 and 1 gate or mix what lies there; a state that is given is hulled in.
Outcome recurrent(const Operands& o) {
  const ir::Node& n = o.node();
  if (ops::attr::has_activations(n)) return {kUnknown};
  const Interval state = n.is(Op::GRU) && o.has(5) ? o.hull(5) : point(0), all = hull({-1, 1}, state);
  // A step of a GRU mixes the one before with a rounding more.
  double steps = 1;
  for (int64_t d : o.type(0).shape) steps = std::max(steps, static_cast<double>(d));
  return {Interval{all.low * (1 + steps * 0x1p-20), all.high * (1 + steps * 0x1p-20)}};
}

}  // namespace

void add_conversions(Table& t) {
  for (Op op : {Op::Cast, Op::CastLike}) t[op] = cast;
  t[Op::DequantizeLinear] = dequantize;
  for (Op op : {Op::LSTM, Op::GRU, Op::RNN}) t[op] = recurrent;
}

}  // namespace mrvlc::range
