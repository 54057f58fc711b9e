// Arithmetic of intervals.
#include "mrvlc/range/interval.h"

namespace mrvlc::range {

namespace {

constexpr double kUnit = 0x1p-24;  // of float32, to the nearest

double end(double v, double otherwise) {
  return std::isnan(v) ? otherwise : v;
}

}  // namespace

Interval either_end(double a, double b) {
  return {end(a, -kInfinity), end(b, kInfinity)};
}

Interval operator+(const Interval& a, const Interval& b) {
  return either_end(a.low + b.low, a.high + b.high);
}

Interval operator-(const Interval& a, const Interval& b) {
  return either_end(a.low - b.high, a.high - b.low);
}

Interval operator*(const Interval& a, const Interval& b) {
  if (!a.bounded() || !b.bounded()) return {};
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

Interval square(const Interval& a) {
  const double most = a.max_abs(), least = a.contains(0) ? 0 : std::min(std::fabs(a.low), std::fabs(a.high));
  return {least * least, most * most};
}

Interval summed(const Interval& exact, double terms, double magnitude, bool nonnegative) {
  const double slack = (terms + 8) * kUnit * magnitude;
  // Sums on the way there that overflow leave nothing known.
  if (!std::isfinite(slack) || magnitude > std::numeric_limits<float>::max()) return {};
  Interval out = either_end(exact.low - slack, exact.high + slack);
  if (nonnegative) out.low = std::max(out.low, 0.0);
  return out;
}

}  // namespace mrvlc::range
