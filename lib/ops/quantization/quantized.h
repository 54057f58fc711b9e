// Rounding to a quantised integer, as QuantizeLinear and DynamicQuantizeLinear do.
#pragma once
#include <cmath>
#include <cstdint>

namespace mrvlc::ops {

struct IntRange {
  int64_t low = 0, high = 0;
};

// saturate(round to even(x / scale) + zero); NaN gives the lowest value.
inline int64_t quantized(float x, float scale, int64_t zero, IntRange r) {
  float v = std::nearbyint(x / scale);
  auto low = static_cast<float>(r.low - zero), high = static_cast<float>(r.high - zero);
  if (!(v > low)) return r.low;
  return v > high ? r.high : static_cast<int64_t>(v) + zero;
}

}  // namespace mrvlc::ops
