// Noise at doubling frequency and halving amplitude, linear in between, of which channels share most.
#include "smooth.h"

#include <algorithm>

namespace mrvlc::calibration {
namespace {

// Shorter dimensions are not along anything.
constexpr int64_t kLeastLength = 8;
// What channels have for themselves.
constexpr double kOwn = 0.3;

struct Grid {
  Shape shape;
  std::vector<double> values;
};

// Between which two points a place lies, and how near to the second.
struct Between {
  int64_t low, high;
  double w;
};

std::vector<Between> places(int64_t points, int64_t length) {
  std::vector<Between> all;
  for (int64_t i = 0; i < length; ++i) {
    const double at =
        length == 1 ? 0 : static_cast<double>(i * (points - 1)) / static_cast<double>(length - 1);
    const auto low = std::min(static_cast<int64_t>(at), points - 1);
    all.push_back({low, std::min(low + 1, points - 1), at - static_cast<double>(low)});
  }
  return all;
}

// Linear between the points of the axis, the first and the last stay.
Grid stretched(const Grid& from, size_t axis, int64_t length) {
  const int64_t points = from.shape[axis];
  Grid to{from.shape, {}};
  to.shape[axis] = length;
  int64_t inner = 1;
  for (size_t d = axis + 1; d < from.shape.size(); ++d) inner *= from.shape[d];
  const int64_t outer = static_cast<int64_t>(from.values.size()) / (inner * points);
  to.values.resize(static_cast<size_t>(outer * inner * length));
  const std::vector<Between> all = places(points, length);
  double* next = to.values.data();
  for (int64_t o = 0; o < outer; ++o) {
    const double* row = from.values.data() + o * points * inner;
    for (const Between& b : all)
      for (int64_t k = 0; k < inner; ++k)
        *next++ = row[b.low * inner + k] * (1 - b.w) + row[b.high * inner + k] * b.w;
  }
  return to;
}

// Noise of one scale: random at so many cells along each long dimension, linear in between. `own`: of its own
// in each channel, else the same in all.
Grid noise(const Shape& shape, int64_t cells, bool own, interp::Mulberry32& random) {
  Grid grid{shape, {}};
  for (int64_t& d : grid.shape) d = d >= kLeastLength ? std::min(d, cells + 1) : own ? d : 1;
  grid.values.resize(static_cast<size_t>(element_count(grid.shape)));
  for (double& v : grid.values) v = random.uniform() - 0.5;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (grid.shape[axis] != shape[axis]) grid = stretched(grid, axis, shape[axis]);
  return grid;
}

}  // namespace

bool can_be_smooth(const Shape& shape) {
  return element_count(shape) > 0 && std::ranges::any_of(shape, [](int64_t d) { return d >= kLeastLength; });
}

std::vector<double> smooth(const Shape& shape, uint32_t seed) {
  interp::Mulberry32 random(seed);
  std::vector<double> out(static_cast<size_t>(element_count(shape)), 0);
  const int64_t longest = *std::ranges::max_element(shape);
  double amplitude = 1;
  for (int64_t cells = 1; 2 * cells <= longest; cells *= 2, amplitude /= 2)
    for (const bool own : {false, true}) {
      const Grid grid = noise(shape, cells, own, random);
      const double share = own ? kOwn * amplitude : amplitude;
      for (size_t i = 0; i < out.size(); ++i) out[i] += share * grid.values[i];
    }
  const auto [least, most] = std::ranges::minmax(out);
  const double width = most > least ? most - least : 1;
  for (double& v : out) v = (v - least) / width;
  return out;
}

}  // namespace mrvlc::calibration
