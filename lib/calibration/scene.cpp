// Pictures with edges.
#include <algorithm>
#include <array>
#include <cmath>

#include "mrvlc/interp/random.h"
#include "smooth.h"

namespace mrvlc::calibration {
namespace {

constexpr int kLeaves = 160;
// Of a colour what channels have for themselves, and how much of smooth() lies over a scene.
constexpr double kOwnColour = 0.4, kShading = 0.12;

// The two longest dimensions in order, and for each element its place along them and along the rest.
struct Plane {
  size_t y = 0, x = 0;
  std::vector<int64_t> strides;

  explicit Plane(const Shape& shape) : strides(shape.size(), 1) {
    for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    std::vector<size_t> by_length(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) by_length[d] = d;
    std::ranges::stable_sort(by_length, std::ranges::greater(), [&](size_t d) { return shape[d]; });
    y = by_length[0], x = by_length[std::min<size_t>(1, by_length.size() - 1)];
    if (y > x) std::swap(y, x);
  }
};

struct Leaf {
  int64_t top, bottom, left, right;
};

// Sides between the whole and a few pixels, each scale as often as the other.
Leaf leaf_of(int64_t height, int64_t width, interp::Mulberry32& random) {
  const auto side = [&](int64_t whole) {
    const double length = static_cast<double>(whole) * std::exp2(-6 * random.uniform());
    return std::max<int64_t>(1, static_cast<int64_t>(length));
  };
  const int64_t h = side(height), w = side(width);
  const auto at = [&](int64_t whole, int64_t length) {
    return static_cast<int64_t>(random.uniform() * static_cast<double>(whole + length)) - length;
  };
  const int64_t top = at(height, h), left = at(width, w);
  return {std::max<int64_t>(top, 0), std::min(top + h, height), std::max<int64_t>(left, 0),
          std::min(left + w, width)};
}

}  // namespace

std::vector<double> scene(const Shape& shape, uint32_t seed) {
  std::vector<double> out = smooth(shape, seed);
  const Plane plane(shape);
  if (plane.x == plane.y) return out;
  interp::Mulberry32 random(seed ^ 0x5bd1e995u);
  const int64_t height = shape[plane.y], width = shape[plane.x];
  // What is neither: channels and images.
  std::vector<int64_t> rest = {0};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == plane.y || d == plane.x) continue;
    std::vector<int64_t> next;
    for (int64_t base : rest)
      for (int64_t i = 0; i < shape[d]; ++i) next.push_back(base + i * plane.strides[d]);
    rest = std::move(next);
  }
  const std::vector<double> shading = out;
  for (int k = 0; k < kLeaves; ++k) {
    const Leaf leaf = leaf_of(height, width, random);
    const double colour = random.uniform();
    for (int64_t base : rest) {
      const double own = (1 - kOwnColour) * colour + kOwnColour * random.uniform();
      for (int64_t y = leaf.top; y < leaf.bottom; ++y)
        for (int64_t x = leaf.left; x < leaf.right; ++x) {
          const auto at = static_cast<size_t>(base + y * plane.strides[plane.y] + x * plane.strides[plane.x]);
          out[at] = (1 - kShading) * own + kShading * shading[at];
        }
    }
  }
  return out;
}

}  // namespace mrvlc::calibration
