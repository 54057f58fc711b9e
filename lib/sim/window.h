// The part of an input image that the windows of a Conv, Depthwise or Pool reach.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mrvlc::sim {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// Positions along one axis, clipped to the input. All arguments below 2^32, sums validated to fit.
inline Range clipped(int64_t origin, uint32_t outputs, uint32_t stride, uint32_t kernel, uint32_t dilation,
                     uint32_t size) {
  int64_t last = origin + (int64_t{outputs} - 1) * stride + (int64_t{kernel} - 1) * dilation;
  Range r{std::max<int64_t>(origin, 0), std::min<int64_t>(last + 1, size)};
  return r.begin < r.end ? r : Range{};
}

template <class C>
Range rows_of(const C& c) {
  return clipped(c.y0, c.out_h, c.stride_h, c.kernel_h, c.dilation_h, c.in_h);
}

template <class C>
Range cols_of(const C& c) {
  return clipped(c.x0, c.out_w, c.stride_w, c.kernel_w, c.dilation_w, c.in_w);
}

// Does any (output, tap) pair of an axis read `position`?
inline bool reached(int64_t position, int64_t origin, uint32_t outputs, uint32_t stride, uint32_t kernel,
                    uint32_t dilation) {
  if (dilation == 1 && kernel >= stride) return true;  // windows leave no gaps
  for (uint32_t k = 0; k < kernel; ++k) {
    int64_t d = position - origin - int64_t{k} * dilation;
    if (d < 0) return false;
    if (d % stride == 0 && d / stride < outputs) return true;
  }
  return false;
}

}  // namespace mrvlc::sim
