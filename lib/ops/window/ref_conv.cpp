// im2col of 128 output positions at a time, multiplied by the weights of one group (ref_gemm).
#include "window/ref_conv.h"

#include <algorithm>
#include <memory>

#include "product/ref_gemm.h"
#include "window/ref_window.h"

namespace mrvlc::ops {
namespace {

// Output positions worked on together: the gathered operand stays in the cache.
constexpr int64_t kGatheredColumns = 128;

// One group of one image, output positions [first, first + count): gathers the window operand, multiplies,
// stores.
template <class T>
void conv_columns(const ConvParams& p, const ConvOperands& operands, const WindowGather& gather, const T* x,
                  const double* w, int64_t row, int64_t first, int64_t count, std::vector<double>& columns,
                  Tensor& y) {
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

// The images of group g, one after the other. `planes`: f(first element) gives those of one image.
template <class F>
void conv_group(const ConvParams& p, const ConvOperands& operands, const WindowGather& gather, int64_t g,
                const double* w, std::vector<double>& columns, Tensor& y, F planes) {
  const int64_t rows = p.out_channels / p.group, elements = p.in_channels / p.group * gather.plane();
  for (int64_t n = 0; n < p.batch; ++n) {
    const auto* x = planes((n * p.group + g) * elements);
    for (int64_t first = 0; first < gather.positions(); first += kGatheredColumns) {
      const int64_t count = std::min(kGatheredColumns, gather.positions() - first);
      conv_columns(p, operands, gather, x, w, n * p.out_channels + g * rows, first, count, columns, y);
    }
  }
}

}  // namespace

void ref_conv(const ConvParams& p, const ConvOperands& operands, Tensor& y) {
  WindowGather gather(p);
  const int64_t rows = p.out_channels / p.group, channels = p.in_channels / p.group;
  const int64_t weights = rows * channels * gather.taps(), planes = channels * gather.plane();
  // Written before it is read: zeros would be one more pass over memory.
  const auto w = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(weights));
  std::unique_ptr<double[]> x;
  if (operands.floats.empty()) x = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(planes));
  std::vector<double> columns;
  for (int64_t g = 0; g < p.group; ++g) {
    operands.weights(g * weights, weights, w.get());
    if (x == nullptr) {
      conv_group(p, operands, gather, g, w.get(), columns, y,
                 [&](int64_t first) { return operands.floats.data() + first; });
    } else {
      conv_group(p, operands, gather, g, w.get(), columns, y, [&](int64_t first) {
        operands.data(first, planes, x.get());
        return static_cast<const double*>(x.get());
      });
    }
  }
}

}  // namespace mrvlc::ops
