// Normalisations: of n numbers with mean m and variance s^2 none is further from m than s * sqrt(n), whatever
// they are; a channel's statistics that are constants make it a line.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

// x * scale + bias of |x| <= most, by channel along `axis` of the result.
Outcome scaled(const Operands& o, double most, const std::vector<Interval>& scale,
               const std::vector<Interval>& bias, int64_t axis) {
  Range out(std::vector<Interval>(std::max(scale.size(), bias.size())), axis);
  for (size_t k = 0; k < out.channels.size(); ++k) {
    const Interval x = Interval{-most, most} * at(scale, k);
    out.channels[k] = summed(x + at(bias, k), 8, x.max_abs() + at(bias, k).max_abs(), false);
  }
  return ops::attr::epsilon(o.node()) > 0 ? Outcome{std::move(out)} : Outcome{kUnknown};
}

double root_of(int64_t elements) {
  return std::sqrt(static_cast<double>(elements)) * (1 + 0x1p-18);
}

int64_t elements_from(const Shape& shape, int64_t axis) {
  int64_t n = 1;
  for (auto d = static_cast<size_t>(axis); d < shape.size(); ++d) n *= shape[d];
  return n;
}

Outcome row_norm(const Operands& o) {  // LayerNormalization, RMSNormalization
  if (!o.sized()) return {kUnknown};
  const auto axis = ops::normalize_axis(ops::attr::axis(o.node()), o.type(0).rank());
  if (!axis.ok()) return {kUnknown};
  const int64_t last = o.type(0).rank() - 1;
  const auto operand = [&](size_t i) { return o.along(i, o.type(i).rank() - 1); };
  return scaled(o, root_of(elements_from(o.type(0).shape, *axis)), operand(1),
                o.has(2) ? operand(2) : std::vector{point(0)}, last);
}

Outcome instance_norm(const Operands& o) {
  if (!o.sized()) return {kUnknown};
  return scaled(o, root_of(elements_from(o.type(0).shape, 2)), o.along(1, 0), o.along(2, 0), 1);
}

Outcome group_norm(const Operands& o) {
  if (!o.sized()) return {kUnknown};
  return scaled(o, root_of(elements_from(o.type(0).shape, 1)), {o.hull(1)}, {o.hull(2)}, 1);
}

// (x - mean) * f + bias with f = scale / sqrt(variance + epsilon), or x * f + (bias - mean * f).
Outcome batch_norm(const Operands& o) {
  const ir::Node& n = o.node();
  if (!o.sized() || ops::attr::training_mode(n) || o.type(0).rank() < 2) return {kUnknown};
  if (o.type(0).shape[1] > kMostChannels) return {kUnknown};
  for (size_t i = 1; i < 5; ++i)
    if (o.constant(i) == nullptr) return {kUnknown};
  const double epsilon = ops::attr::epsilon(n);
  const std::vector<Interval> x = o.along(0, 1), scale = o.along(1, 0), bias = o.along(2, 0),
                              mean = o.along(3, 0), variance = o.along(4, 0);
  Range out(std::vector<Interval>(static_cast<size_t>(o.type(0).shape[1])), 1);
  for (size_t k = 0; k < out.channels.size(); ++k) {
    const double spread = at(variance, k).low + epsilon;
    if (!(spread > 0)) return {kUnknown};
    const double f = at(scale, k).low / std::sqrt(spread);
    const Interval line = point(f) * at(x, k), shift = point(f) * at(mean, k);
    const double magnitude = line.max_abs() + shift.max_abs() + at(bias, k).max_abs();
    out.channels[k] = summed(line - shift + at(bias, k), 8, magnitude, false);
  }
  return {std::move(out)};
}

Outcome lp_norm(const Operands&) {
  return {Interval{-1, 1}};
}

Outcome softmax(const Operands&) {
  return {Interval{0, 1}};
}

// x - m - log(sum of exponentials of differences, 1 to n).
Outcome log_softmax(const Operands& o) {
  const Interval x = o.hull(0);
  if (!o.sized() || !x.bounded()) return {Interval{-kInfinity, 0}};
  const double n = static_cast<double>(std::max<int64_t>(1, o.type(0).elements()));
  const Interval all = {x.low - x.high - std::log(n), 0};
  Interval out = summed(all, 8, x.max_abs() + all.max_abs(), false);
  out.high = 0x1p-20 * x.max_abs();
  return {out};
}

}  // namespace

void add_normalizations(Table& t) {
  for (Op op : {Op::LayerNormalization, Op::RMSNormalization}) t[op] = row_norm;
  t[Op::InstanceNormalization] = instance_norm;
  t[Op::GroupNormalization] = group_norm;
  t[Op::BatchNormalization] = batch_norm;
  t[Op::LpNormalization] = lp_norm;
  for (Op op : {Op::Softmax, Op::Hardmax}) t[op] = softmax;
  t[Op::LogSoftmax] = log_softmax;
}

}  // namespace mrvlc::range
