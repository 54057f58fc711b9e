// Register blocks of 4 x 4 doubles over a depth of 256, edges row by row; elements to and from double.
#include "product/ref_gemm.h"

#include <algorithm>
#include <cstring>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::ops {
namespace {

// GNU vectors keep the inner product fast at every optimisation level of the build, on SSE2 and NEON alike.
typedef double Vec __attribute__((vector_size(16)));

inline Vec load(const double* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void add_to(double* p, Vec v) {
  Vec sum = load(p) + v;
  std::memcpy(p, &sum, sizeof sum);
}

// Four rows of a over kDepth are 8 KiB: they stay in the first-level cache while all columns of b pass.
constexpr int64_t kRows = 4, kCols = 4, kDepth = 256;

// 4 x 4 block of c over k steps; the eight sums stay in registers.
void block(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc) {
  Vec s00{}, s01{}, s10{}, s11{}, s20{}, s21{}, s30{}, s31{};
  const double *a0 = a, *a1 = a + lda, *a2 = a + 2 * lda, *a3 = a + 3 * lda;
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    Vec b0 = load(b), b1 = load(b + 2);
    s00 += a0[p] * b0, s01 += a0[p] * b1;
    s10 += a1[p] * b0, s11 += a1[p] * b1;
    s20 += a2[p] * b0, s21 += a2[p] * b1;
    s30 += a3[p] * b0, s31 += a3[p] * b1;
  }
  add_to(c, s00), add_to(c + 2, s01);
  add_to(c + ldc, s10), add_to(c + ldc + 2, s11);
  add_to(c + 2 * ldc, s20), add_to(c + 2 * ldc + 2, s21);
  add_to(c + 3 * ldc, s30), add_to(c + 3 * ldc + 2, s31);
}

// What is left at the right and at the bottom.
void edge(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
          double* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      double w = a[i * lda + p];
      const double* row = b + p * ldb;
      double* out = c + i * ldc;
      int64_t j = 0;
      for (; j + 2 <= n; j += 2) add_to(out + j, w * load(row + j));
      if (j < n) out[j] += w * row[j];
    }
  }
}

template <class T>
void widen(std::span<const T> in, int64_t first, int64_t count, double* out) {
  const T* from = in.data() + first;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(from[i]);
}

}  // namespace

void ref_gemm(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
              double* c, int64_t ldc) {
  int64_t m4 = m / kRows * kRows, n4 = n / kCols * kCols;
  for (int64_t p = 0; p < k; p += kDepth) {
    int64_t depth = std::min(kDepth, k - p);
    const double *ap = a + p, *bp = b + p * ldb;
    for (int64_t i = 0; i < m4; i += kRows) {
      for (int64_t j = 0; j < n4; j += kCols)
        block(depth, ap + i * lda, lda, bp + j, ldb, c + i * ldc + j, ldc);
    }
    edge(m4, n - n4, depth, ap, lda, bp + n4, ldb, c + n4, ldc);
    edge(m - m4, n, depth, ap + m4 * lda, lda, bp, ldb, c + m4 * ldc, ldc);
  }
}

void load_doubles(const Tensor& tensor, int64_t first, int64_t count, double* out) {
  if (tensor.elem() == ElementType::F32) return widen(tensor.data<float>(), first, count, out);
  if (tensor.elem() == ElementType::F64) return widen(tensor.data<double>(), first, count, out);
  for (int64_t i = 0; i < count; ++i) out[i] = tensor.as_double(first + i);
}

void store_doubles(Tensor& tensor, int64_t first, int64_t count, const double* in) {
  if (tensor.elem() == ElementType::F32) {
    float* to = tensor.mutable_data<float>().data() + first;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(in[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) tensor.set_double(first + i, in[i]);
}

}  // namespace mrvlc::ops
