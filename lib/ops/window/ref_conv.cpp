// im2col of 128 output positions at a time, multiplied by the weights of one group (ref_gemm).
#include "window/ref_conv.h"

#include <algorithm>

#include "product/ref_gemm.h"
#include "window/ref_window.h"

namespace mrvlc::ops {
namespace {

// Output positions worked on together: the gathered operand stays in the cache.
constexpr int64_t kGatheredColumns = 128;

// One group of one image, output positions [first, first + count): gathers the window operand, multiplies,
// stores.
void conv_columns(const ConvParams& p, const ConvOperands& operands, const WindowGather& gather,
                  const double* x, const double* w, int64_t row, int64_t first, int64_t count,
                  std::vector<double>& columns, Tensor& y) {
  int64_t rows = p.out_channels / p.group, channels = p.in_channels / p.group, taps = gather.taps();
  columns.resize(static_cast<size_t>(channels * taps * count + rows * count));
  double* sums = columns.data() + channels * taps * count;
  for (int64_t c = 0; c < channels; ++c)
    gather.columns(x + c * gather.plane(), first, count, columns.data() + c * taps * count);
  int64_t m0 = row % p.out_channels;
  for (int64_t m = 0; m < rows; ++m) std::fill_n(sums + m * count, count, operands.bias(m0 + m));
  ref_gemm(rows, count, channels * taps, w, channels * taps, columns.data(), count, sums, count);
  for (int64_t m = 0; m < rows; ++m)
    store_doubles(y, (row + m) * gather.positions() + first, count, sums + m * count);
}

}  // namespace

void ref_conv(const ConvParams& p, const ConvOperands& operands, Tensor& y) {
  WindowGather gather(p);
  int64_t rows = p.out_channels / p.group, channels = p.in_channels / p.group;
  int64_t weights = rows * channels * gather.taps(), planes = channels * gather.plane();
  std::vector<double> x(static_cast<size_t>(planes)), w(static_cast<size_t>(weights)), columns;
  for (int64_t g = 0; g < p.group; ++g) {
    operands.weights(g * weights, weights, w.data());
    for (int64_t n = 0; n < p.batch; ++n) {
      operands.data((n * p.group + g) * planes, planes, x.data());
      for (int64_t first = 0; first < gather.positions(); first += kGatheredColumns) {
        int64_t count = std::min(kGatheredColumns, gather.positions() - first);
        conv_columns(p, operands, gather, x.data(), w.data(), n * p.out_channels + g * rows, first, count,
                     columns, y);
      }
    }
  }
}

}  // namespace mrvlc::ops
