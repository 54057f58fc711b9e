// The inner loops of the prover.
#include "products.h"

#include <algorithm>

namespace mrvlc::prove {

std::vector<bool> Window::rows_read() const {
  std::vector<bool> read(static_cast<size_t>(in_h), false);
  for (int64_t o = 0; o < out_h; ++o)
    for (int64_t r = 0; r < kernel_h; ++r)
      if (const int64_t iy = row(o, r); iy >= 0 && iy < in_h) read[static_cast<size_t>(iy)] = true;
  return read;
}

std::vector<bool> Window::columns_read() const {
  std::vector<bool> read(static_cast<size_t>(in_w), false);
  for (int64_t o = 0; o < out_w; ++o)
    for (int64_t s = 0; s < kernel_w; ++s)
      if (const int64_t ix = column(o, s); ix >= 0 && ix < in_w) read[static_cast<size_t>(ix)] = true;
  return read;
}

Weights::Weights(const Field& f, int64_t taps, int64_t channels, int64_t n, std::span<const uint64_t> w)
    : f_(f), taps_(taps), channels_(channels), n_(n) {
  const int64_t rows = taps * channels, blocks = (n + kBlock - 1) / kBlock;
  w_.assign(static_cast<size_t>(blocks * rows * kBlock), 0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < n; ++k)
      w_[static_cast<size_t>((k / kBlock * rows + row) * kBlock + k % kBlock)] =
          w[static_cast<size_t>(row * n + k)];
}

namespace {

// Four sums at once: `length` products of x and rows of four weights, on top of what is there.
using Add = void (*)(const uint64_t* x, const uint64_t* w, int64_t length, Wide* sums);

inline __attribute__((always_inline)) void add_products(const uint64_t* x, const uint64_t* w, int64_t length,
                                                        Wide* sums) {
  Wide s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  for (int64_t i = 0; i < length; ++i, w += 4) {
    const Wide v = x[i];
    s0 += v * w[0];
    s1 += v * w[1];
    s2 += v * w[2];
    s3 += v * w[3];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

void add_plain(const uint64_t* x, const uint64_t* w, int64_t length, Wide* sums) {
  add_products(x, w, length, sums);
}

#if defined(__x86_64__)
// A product that leaves the flags alone: half the moves.
__attribute__((target("bmi2"))) void add_bmi2(const uint64_t* x, const uint64_t* w, int64_t length,
                                              Wide* sums) {
  add_products(x, w, length, sums);
}
Add best() {
  return __builtin_cpu_supports("bmi2") ? add_bmi2 : add_plain;
}
#else
Add best() {
  return add_plain;
}
#endif

}  // namespace

void Weights::add_pixel(const Window& p, const uint64_t* x, int64_t oy, int64_t ox, const uint64_t* w,
                        uint64_t* acc) const {
  static const Add add = best();
  for (int64_t r = 0; r < p.kernel_h; ++r)
    for (int64_t s = 0; s < p.kernel_w; ++s) {
      const int64_t iy = p.row(oy, r), ix = p.column(ox, s);
      if (!p.inside(iy, ix)) continue;
      const uint64_t* in = x + (iy * p.in_w + ix) * channels_;
      const uint64_t* row = w + (r * p.kernel_w + s) * channels_ * kBlock;
      for (int64_t c = 0; c < channels_; c += kChunk) {
        const int64_t length = std::min(kChunk, channels_ - c);
        Wide sums[kBlock];
        std::copy(acc, acc + kBlock, sums);
        add(in + c, row + c * kBlock, length, sums);
        for (int64_t k = 0; k < kBlock; ++k) acc[k] = f_.reduce(sums[k]);
      }
    }
}

void Weights::add_sums(const Window& p, std::span<const uint64_t> x, std::span<uint64_t> acc) const {
  const int64_t rows = taps_ * channels_;
  for (int64_t k = 0; k < n_; k += kBlock) {
    const uint64_t* w = w_.data() + k / kBlock * rows * kBlock;
    const int64_t count = std::min(kBlock, n_ - k);
    for (int64_t pixel = 0; pixel < p.out_h * p.out_w; ++pixel) {
      uint64_t sums[kBlock] = {};
      uint64_t* at = acc.data() + pixel * n_ + k;
      std::copy(at, at + count, sums);
      add_pixel(p, x.data(), pixel / p.out_w, pixel % p.out_w, w, sums);
      std::copy(sums, sums + count, at);
    }
  }
}

void add_depthwise(const Field& f, const Window& p, int64_t n, std::span<const uint64_t> w,
                   std::span<const uint64_t> x, std::span<uint64_t> acc) {
  for (int64_t pixel = 0; pixel < p.out_h * p.out_w; ++pixel)
    for (int64_t r = 0; r < p.kernel_h; ++r)
      for (int64_t s = 0; s < p.kernel_w; ++s) {
        const int64_t iy = p.row(pixel / p.out_w, r), ix = p.column(pixel % p.out_w, s);
        if (!p.inside(iy, ix)) continue;
        const uint64_t* in = x.data() + (iy * p.in_w + ix) * n;
        const uint64_t* row = w.data() + (r * p.kernel_w + s) * n;
        uint64_t* at = acc.data() + pixel * n;
        for (int64_t k = 0; k < n; ++k) at[k] = f.reduce(at[k] + static_cast<Wide>(in[k]) * row[k]);
      }
}

}  // namespace mrvlc::prove
