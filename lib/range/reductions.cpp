// Reductions over n elements, by the interval of all of them.
#include "mrvlc/ops/op_kind.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

// Elements that one result is made of; nullopt: not known, or none.
std::optional<double> reduced(const Operands& o) {
  if (!o.sized()) return std::nullopt;
  const int64_t from = o.type(0).elements(), to = o.result().elements();
  if (from == 0 || to == 0) return std::nullopt;
  return static_cast<double>(from) / static_cast<double>(to);
}

Interval sum_of_equal(const Interval& one, double n) {
  if (!one.bounded()) return kUnknown;
  return summed({n * one.low, n * one.high}, n, n * one.max_abs(), one.low >= 0);
}
Interval divided(const Interval& i, double n) {
  return {i.low / n, i.high / n};
}
Interval magnitude(const Interval& i) {
  return {i.contains(0) ? 0 : std::min(std::fabs(i.low), std::fabs(i.high)), i.max_abs()};
}

// What `f` makes of one element's interval and their number.
template <class F>
Outcome over(const Operands& o, F f, bool exact = false) {
  const auto n = reduced(o);
  return {n ? f(o.hull(0), *n) : kUnknown, exact};
}

Outcome reduced_mean(const Operands& o) {
  return over(o, [](const Interval& i, double n) { return divided(sum_of_equal(i, n), n); });
}
Outcome reduced_sum(const Operands& o) {
  return over(o, sum_of_equal);
}
Outcome sum_square(const Operands& o) {
  return over(o, [](const Interval& i, double n) { return sum_of_equal(square(i), n); });
}
Outcome l1(const Operands& o) {
  return over(o, [](const Interval& i, double n) { return sum_of_equal(magnitude(i), n); });
}
Outcome l2(const Operands& o) {
  return over(o, [](const Interval& i, double n) {
    const Interval s = sum_of_equal(square(i), n);
    return Interval{std::sqrt(s.low), std::sqrt(s.high)};
  });
}
Outcome extreme(const Operands& o) {
  return over(
      o, [](const Interval& i, double) { return i; }, true);
}
// Each factor has a rounding, all results of the way lie below the power of the largest or 1.
Outcome reduced_product(const Operands& o) {
  return over(o, [](const Interval& i, double n) {
    if (!i.bounded()) return kUnknown;
    const double most = std::pow(std::max(1.0, i.max_abs()), n) * (1 + n * 0x1p-20);
    return Interval{i.low >= 0 ? 0 : -most, most};
  });
}
Outcome log_sum_exp(const Operands& o) {
  return over(o, [](const Interval& i, double n) {
    const Interval all = {i.low, i.high + std::log(n)};
    return summed(all, n, i.max_abs() + std::log(n) + 1, false);
  });
}

}  // namespace

void add_reductions(Table& t) {
  t[Op::ReduceMean] = reduced_mean;
  t[Op::ReduceSum] = reduced_sum;
  t[Op::ReduceSumSquare] = sum_square;
  t[Op::ReduceL1] = l1;
  t[Op::ReduceL2] = l2;
  for (Op op : {Op::ReduceMax, Op::ReduceMin}) t[op] = extreme;
  t[Op::ReduceProd] = reduced_product;
  t[Op::ReduceLogSumExp] = log_sum_exp;
}

}  // namespace mrvlc::range
