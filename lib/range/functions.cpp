// Functions of one operand. Those that never fall are known by their ends; of the others the least value is.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

double evaluate(const Operands& o, double x) {
  const ir::Node& n = o.node();
  return ops::op_def(n).scalar->eval(&x, *n.op, n.attrs);
}

Interval rising(const Operands& o, const Interval& i) {
  return either_end(evaluate(o, i.low), evaluate(o, i.high));
}

template <bool Exact = false>
Outcome never_falls(const Operands& o) {
  return {each(o.range(0), [&](const Interval& i) { return rising(o, i); }), Exact};
}

// Rising where `holds` of the attribute.
template <class F>
Outcome rises_if(const Operands& o, bool holds, F f) {
  if (!holds) return {kUnknown};
  return {each(o.range(0), f)};
}

Outcome leaky_relu(const Operands& o) {
  return rises_if(o, ops::attr::alpha(o.node()) >= 0, [&](const Interval& i) { return rising(o, i); });
}
Outcome saturating(const Operands& o) {  // Elu, Celu, Selu, HardSigmoid
  bool holds = ops::attr::alpha(o.node()) > 0;
  if (o.node().is(Op::Selu)) holds = holds && ops::attr::gamma(o.node()) > 0;
  return rises_if(o, holds, [&](const Interval& i) { return rising(o, i); });
}

Outcome softsign(const Operands& o) {
  return {each(o.range(0), [&](const Interval& i) {
    const Interval ends = rising(o, i);  // infinity over infinity is an end that is not known
    return Interval{std::max(ends.low, -1.0), std::min(ends.high, 1.0)};
  })};
}

// Defined from `least` on.
template <class Least>
Outcome defined_from(const Operands& o, Least defined) {
  return {each(o.range(0), [&](const Interval& i) { return defined(i.low) ? rising(o, i) : kUnknown; })};
}
Outcome square_root(const Operands& o) {
  return defined_from(o, [](double low) { return low >= 0; });
}
Outcome logarithm(const Operands& o) {
  return defined_from(o, [](double low) { return low > 0; });
}

// x times something that rises from 0 to 1: one dip below zero, then it rises without an end.
Outcome dipping(const Operands& o, double least) {
  return {each(o.range(0), [&](const Interval& i) {
    if (i.low >= 0) return rising(o, i);
    return Interval{least, i.high <= 0 ? 0 : evaluate(o, i.high)};
  })};
}
Outcome hard_swish(const Operands& o) {
  return dipping(o, -0.375);  // at -1.5
}
Outcome mish(const Operands& o) {
  return dipping(o, -0.30885);  // at -1.19246
}
Outcome gelu(const Operands& o) {
  return dipping(o, -0.17005);  // by erf -0.169971 at -0.75179, by tanh -0.170041
}
// x * sigmoid(a x) is t * sigmoid(t) / a with t = a x, whose least is -0.278465 at -1.278465.
Outcome swish(const Operands& o) {
  const double a = ops::attr::alpha(o.node());
  return a > 0 ? dipping(o, -0.27847 / a) : Outcome{kUnknown};
}

Outcome absolute(const Operands& o) {
  return {each(o.range(0),
               [](const Interval& i) {
                 const double least = i.contains(0) ? 0 : std::min(std::fabs(i.low), std::fabs(i.high));
                 return Interval{least, i.max_abs()};
               }),
          true};
}
Outcome negated(const Operands& o) {
  return {each(o.range(0), [](const Interval& i) { return Interval{-i.high, -i.low}; }), true};
}
Outcome reciprocal(const Operands& o) {
  return {each(o.range(0), [](const Interval& i) {
    if (i.low <= 0 && i.high >= 0) return kUnknown;
    return Interval{1 / i.high, 1 / i.low};
  })};
}
Outcome cosh_of(const Operands& o) {
  return {each(o.range(0), [](const Interval& i) {
    const double least = i.contains(0) ? 0 : std::min(std::fabs(i.low), std::fabs(i.high));
    return Interval{std::cosh(least), std::cosh(i.max_abs())};
  })};
}
Outcome wave(const Operands&) {
  return {Interval{-1, 1}};
}
Outcome sign(const Operands&) {
  return {Interval{-1, 1}, true};
}
Outcome thresholded(const Operands& o) {
  return {each(o.range(0), [](const Interval& i) { return hull(i, point(0)); }), true};
}
// Training is no matter of inference.
Outcome dropout(const Operands& o) {
  const Tensor* training = o.constant(2);
  const bool off =
      !o.has(2) || (training != nullptr && training->elements() == 1 && training->as_int(0) == 0);
  return off ? Outcome{o.range(0), true} : Outcome{kUnknown};
}

}  // namespace

void add_functions(Table& t) {
  for (Op op : {Op::Relu, Op::Floor, Op::Ceil, Op::Round}) t[op] = never_falls<true>;
  for (Op op : {Op::Exp, Op::Sigmoid, Op::Tanh, Op::Erf, Op::Atan, Op::Sinh, Op::Asinh, Op::Softplus})
    t[op] = never_falls<>;
  for (Op op : {Op::Elu, Op::Celu, Op::Selu, Op::HardSigmoid}) t[op] = saturating;
  for (Op op : {Op::Sin, Op::Cos}) t[op] = wave;
  t[Op::LeakyRelu] = leaky_relu;
  t[Op::Softsign] = softsign;
  t[Op::Sqrt] = square_root;
  t[Op::Log] = logarithm;
  t[Op::HardSwish] = hard_swish;
  t[Op::Mish] = mish;
  t[Op::Gelu] = gelu;
  t[Op::Swish] = t[Op::QuickGelu] = swish;
  t[Op::Abs] = absolute;
  t[Op::Neg] = negated;
  t[Op::Reciprocal] = reciprocal;
  t[Op::Cosh] = cosh_of;
  t[Op::Sign] = sign;
  t[Op::ThresholdedRelu] = thresholded;
  t[Op::Dropout] = dropout;
}

}  // namespace mrvlc::range
