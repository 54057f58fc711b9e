// Scale and zero point of a range that holds 0, and tensors rounded to the numbers that they stand for.
#include "affine.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::quantize {

Affine affine_for(double low, double high, ElementType type) {
  const ops::IntRange r = ops::range_of(type);
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  Affine out{1, r.low, type};
  const auto steps = static_cast<double>(r.high - r.low);
  const double scale = (high - low) / steps;
  // Below the least normal number products of scales would be none.
  constexpr double kLeast = 1e-18;
  if (!(scale > kLeast)) {
    out.zero = std::clamp<int64_t>(0, r.low, r.high);
    return out;
  }
  out.scale = static_cast<float>(scale);
  out.zero = r.low + std::clamp<int64_t>(std::llround(-low / scale), 0, r.high - r.low);
  return out;
}

void round_to(const Affine& affine, Tensor& tensor) {
  const ops::IntRange r = ops::range_of(affine.type);
  for (float& x : tensor.mutable_data<float>())
    x = static_cast<float>(ops::quantized(x, affine.scale, affine.zero, r) - affine.zero) * affine.scale;
}

}  // namespace mrvlc::quantize
