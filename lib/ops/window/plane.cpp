// Layout of a padded channel: rows, their columns sorted by phase modulo the stride, and where taps are.
#include "mrvlc/ops/plane.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/ops/kernel_structs.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::ops {
namespace {

// Units of results are so high and at most so wide; they may reach beyond the result.
constexpr int64_t kUnitRows = 4, kLanes = 16;
// Two planes of so many floats share a first-level cache.
constexpr int64_t kSmall = 3328;

int64_t size_along(const std::vector<int64_t>& sizes, size_t d, int64_t missing) {
  const size_t lead = 2 - sizes.size();
  return d < lead ? missing : sizes[d - lead];
}

}  // namespace

WindowPlane window_plane(const WindowParams& w, const std::string& batch, int64_t channels,
                         int64_t multiplier, const std::string& tap) {
  const int64_t kernel_h = size_along(w.kernel, 0, 1), kernel_w = size_along(w.kernel, 1, 1);
  const int64_t stride_h = size_along(w.strides, 0, 1), stride_w = size_along(w.strides, 1, 1);
  const int64_t dilation_h = size_along(w.dilations, 0, 1), dilation_w = size_along(w.dilations, 1, 1);
  const int64_t out_h = size_along(w.output, 0, 1), out_w = size_along(w.output, 1, 1);
  const int64_t rows = (std::max(out_h, kUnitRows) - 1) * stride_h + (kernel_h - 1) * dilation_h + 1;
  const int64_t pitch = round_up(out_w, kLanes) + (kernel_w - 1) * dilation_w / stride_w + 1;
  WindowPlane plane;
  const int64_t floats = rows * stride_w * pitch, apart = floats <= kSmall ? floats : 0;
  plane.small = apart != 0;
  plane.bytes = (floats + apart) * 4;
  for (int64_t k = 0; k < kernel_h * kernel_w; ++k) {
    const int64_t x = k % kernel_w * dilation_w;
    const int64_t line = k / kernel_w * dilation_h * stride_w + x % stride_w;
    plane.taps += fmt::format("{}{}", k == 0 ? "" : ", ", line * pitch + x / stride_w);
  }
  plane.shape = structs::initialiser(structs::PlaneShape{.batch = batch,
                                                         .channels = channels,
                                                         .multiplier = multiplier,
                                                         .h = size_along(w.input, 0, 1),
                                                         .w = size_along(w.input, 1, 1),
                                                         .out_h = out_h,
                                                         .out_w = out_w,
                                                         .kernel_h = kernel_h,
                                                         .kernel_w = kernel_w,
                                                         .stride_h = stride_h,
                                                         .stride_w = stride_w,
                                                         .dilation_h = dilation_h,
                                                         .dilation_w = dilation_w,
                                                         .pad_h = size_along(w.pads_begin, 0, 0),
                                                         .pad_w = size_along(w.pads_begin, 1, 0),
                                                         .rows = rows,
                                                         .pitch = pitch,
                                                         .apart = apart,
                                                         .tap = tap});
  return plane;
}

}  // namespace mrvlc::ops
