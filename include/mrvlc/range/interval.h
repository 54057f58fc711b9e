// Intervals of numbers, and the arithmetic that keeps every result of float32 inside.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace mrvlc::range {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// All numbers from `low` to `high`; an end that is infinite is not known. Of elements that are NaN it says
// nothing.
struct Interval {
  double low = -kInfinity, high = kInfinity;

  bool operator==(const Interval&) const = default;
  bool bounded() const { return std::isfinite(low) && std::isfinite(high); }
  double max_abs() const { return std::max(std::fabs(low), std::fabs(high)); }
  bool contains(double v) const { return low <= v && v <= high; }
};

inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval point(double v) {
  return std::isnan(v) ? Interval{} : Interval{v, v};
}
// Ends that no number is left for, as of infinity minus infinity, are not known.
Interval either_end(double a, double b);

Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a, const Interval& b);
// Unknown where one of the two is unknown: zero times infinity.
Interval operator*(const Interval& a, const Interval& b);
Interval square(const Interval& a);  // of each number with itself

// The sum of up to `terms` numbers of an interval, with `magnitude` the largest sum of their magnitudes, as
// any order of float32 additions gives it: each of the terms - 1 additions, and of the products before them,
// is off by at most 2^-24 of that sum. (Higham, Accuracy and Stability of Numerical Algorithms, 3.1:
// gamma_n.) What adds up nothing below zero stays there.
Interval summed(const Interval& exact, double terms, double magnitude, bool nonnegative);

}  // namespace mrvlc::range
