// Sums of products over windows, in the field: of instructions and of layers.
#pragma once
#include <span>
#include <vector>

#include "field.h"

namespace mrvlc::prove {

struct Window {
  int64_t in_h = 1, in_w = 1, y0 = 0, x0 = 0;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t out_h = 1, out_w = 1;

  int64_t row(int64_t oy, int64_t r) const { return y0 + oy * stride_h + r * dilation_h; }
  int64_t column(int64_t ox, int64_t s) const { return x0 + ox * stride_w + s * dilation_w; }
  bool inside(int64_t iy, int64_t ix) const { return iy >= 0 && iy < in_h && ix >= 0 && ix < in_w; }
  // Rows and columns of the input that some tap reads.
  std::vector<bool> rows_read() const;
  std::vector<bool> columns_read() const;
};

// Plain sums: weights of `channels` inputs and `n` outputs, row (tap * channels + c) by output.
class Weights {
 public:
  Weights(const Field& f, int64_t taps, int64_t channels, int64_t n, std::span<const uint64_t> w);
  // acc[pixel * n + k]; x[(iy * in_w + ix) * channels + c].
  void add_sums(const Window& window, std::span<const uint64_t> x, std::span<uint64_t> acc) const;

 private:
  void add_pixel(const Window& window, const uint64_t* x, int64_t oy, int64_t ox, const uint64_t* w,
                 uint64_t* acc) const;

  static constexpr int64_t kBlock = 4, kChunk = 62;  // outputs at once; products before a reduction
  const Field& f_;
  int64_t taps_, channels_, n_;
  std::vector<uint64_t> w_;  // by block of outputs, then row, then output
};

// Depthwise: channel n of the input alone; w[tap * n + k], x[(iy * in_w + ix) * n + k].
void add_depthwise(const Field& f, const Window& window, int64_t n, std::span<const uint64_t> w,
                   std::span<const uint64_t> x, std::span<uint64_t> acc);

// Sums by what is multiplied, and in which order: the left operands of a sum and its right ones, each a
// polynomial at a random point. Sums that have both alike are the same bit for bit, and no product has to be
// made: of a convolution there is one list of left operands a pixel, and one of right operands a channel.
class OrderedSums {
 public:
  OrderedSums(const Field& f, int64_t pixels, int64_t n);
  // Operands as those of Weights and of add_depthwise. Sums go on where they stopped.
  void add(const Window& window, int64_t channels, std::span<const uint64_t> w, std::span<const uint64_t> x);
  void add_depthwise(const Window& window, std::span<const uint64_t> w, std::span<const uint64_t> x);
  // A symbol for each sum, [pixel * n + k]; 0 where nothing but 0 is added.
  std::vector<uint64_t> symbols() const;

 private:
  void append(size_t at, uint64_t power, uint64_t left, uint64_t right);

  const Field* f_;
  int64_t n_;
  std::vector<uint64_t> left_, right_;
};

}  // namespace mrvlc::prove
