// Look-up tables: segment i covers the fp16 numbers whose upper eleven bits are i (sign, exponent, five bits
// of mantissa) and holds the line through the function's values at its two ends, or a step.
#include <cmath>
#include <functional>
#include <limits>

#include "lower/lowering.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel {
namespace {

constexpr uint32_t kSegmentHalves = 32;

using Function = std::function<double(double)>;

struct Line {
  double c0 = 0, c1 = 0;
};

// As stored; a double beyond fp32 is infinite.
float narrowed(double v) {
  constexpr double kOverflow = 0x1.ffffffp127;  // halfway between the largest float and the next power of two
  if (std::fabs(v) >= kOverflow)
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(v < 0 ? -1 : 1));
  return static_cast<float>(v);
}

bool fits(const Line& line) {
  return std::isfinite(narrowed(line.c0)) && std::isfinite(narrowed(line.c1));
}

// The chord from a to b, moved towards the curve's middle to halve its largest error. Not where the function
// is 0 at a, or a is 0: those values are exact.
Line chord(const Function& f, double a, double b) {
  double fa = f(a), fb = f(b), c1 = (fb - fa) / (b - a);
  Line line{fa - c1 * a, c1};
  double middle = 0.5 * (a + b), error = f(middle) - (line.c0 + line.c1 * middle);
  if (std::isfinite(error) && a != 0 && fa != 0) line.c0 += 0.5 * error;
  return line;
}

struct Interval {
  double first = 0, end = 0;  // of the fp16 numbers of a segment, by magnitude
};

// `end` is the first number of the next segment; 65504 where that is infinite.
Interval interval(uint16_t first) {
  uint16_t next = static_cast<uint16_t>(first + kSegmentHalves);
  bool last = (next & 0x7fffu) == 0x7c00u;
  return {static_cast<double>(half_to_float(first)),
          static_cast<double>(half_to_float(last ? static_cast<uint16_t>(next - 1) : next))};
}

Line at_infinity(const Function& f, bool negative) {
  double x = negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  double y = f(x);
  return {std::isnan(y) ? f(negative ? -65504.0 : 65504.0) : y, 0};
}

Line segment(uint32_t index, const Function& f) {
  auto first = static_cast<uint16_t>(index * kSegmentHalves);
  uint32_t magnitude = first & 0x7fffu;
  if (magnitude > 0x7c00u) return {std::numeric_limits<double>::quiet_NaN(), 0};
  if (magnitude == 0x7c00u) return at_infinity(f, (first & 0x8000u) != 0);
  Interval i = interval(first);
  Line line = chord(f, i.first, i.end);
  // Beside a pole, and where the line is beyond fp32: the value of the segment's first number.
  return fits(line) ? line : Line{f(i.first), 0};
}

std::vector<float> make(const std::function<Line(uint32_t)>& segment_of) {
  std::vector<float> out;
  out.reserve(2 * isa::kTableSegments);
  for (uint32_t i = 0; i < isa::kTableSegments; ++i) {
    Line l = segment_of(i);
    out.push_back(narrowed(l.c0));
    out.push_back(narrowed(l.c1));
  }
  return out;
}

}  // namespace

std::vector<float> make_table(const Function& f) {
  return make([&](uint32_t i) { return segment(i, f); });
}

std::vector<float> make_steps(const Function& f) {
  return make([&](uint32_t i) {
    auto first = static_cast<uint16_t>(i * kSegmentHalves);
    bool finite = (first & 0x7fffu) < 0x7c00u;
    return finite ? Line{f(static_cast<double>(half_to_float(first))), 0} : segment(i, f);
  });
}

}  // namespace mrvlc::accel
