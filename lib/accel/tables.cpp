// Look-up tables: segment i covers the fp16 numbers whose upper eleven bits are i (sign, exponent, five bits
// of mantissa) and holds the line through the function's values at its two ends.
#include <cmath>
#include <functional>
#include <limits>

#include "lowering.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel {
namespace {

constexpr uint32_t kSegmentHalves = 32;

struct Line {
  double c0 = 0, c1 = 0;
};

Line through(double a, double fa, double b, double fb) {
  bool straight = std::isfinite(fa) && std::isfinite(fb) && a != b;
  if (!straight) return {std::isfinite(fb) ? fb : fa, 0};  // a pole at one end: the other end's value
  double c1 = (fb - fa) / (b - a);
  return {fa - c1 * a, c1};
}

// Halves the largest error of the chord by moving it towards the curve's middle.
Line balanced(Line line, const std::function<double(double)>& f, double a, double b) {
  double middle = 0.5 * (a + b), error = f(middle) - (line.c0 + line.c1 * middle);
  if (std::isfinite(error)) line.c0 += 0.5 * error;
  return line;
}

Line segment(uint32_t index, const std::function<double(double)>& f) {
  auto first = static_cast<uint16_t>(index * kSegmentHalves);
  uint32_t exponent = first >> 10 & 0x1f;
  bool negative = (first & 0x8000u) != 0;
  if (exponent == 31) {
    bool infinity = (first & 0x3ffu) == 0;
    double x = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    if (!infinity) return {std::numeric_limits<double>::quiet_NaN(), 0};
    double y = f(x);
    return {std::isnan(y) ? f(negative ? -65504.0 : 65504.0) : y, 0};
  }
  double a = half_to_float(first);
  double b = exponent == 30 && (first & 0x3ffu) == 0x3e0u
                 ? (negative ? -65504.0 : 65504.0)
                 : static_cast<double>(half_to_float(static_cast<uint16_t>(first + kSegmentHalves)));
  Line line = through(a, f(a), b, f(b));
  bool through_zero = (first & 0x7fffu) == 0;  // keeps f(0) exact
  return through_zero ? line : balanced(line, f, a, b);
}

}  // namespace

std::vector<float> make_table(const std::function<double(double)>& f) {
  std::vector<float> out;
  out.reserve(2 * isa::kTableSegments);
  for (uint32_t i = 0; i < isa::kTableSegments; ++i) {
    Line l = segment(i, f);
    out.push_back(static_cast<float>(l.c0));
    out.push_back(static_cast<float>(l.c1));
  }
  return out;
}

}  // namespace mrvlc::accel
