// Blocks of rows and columns over a depth of 256, edges row by row; elements to and from double.
#include "product/ref_gemm.h"

#include <algorithm>
#include <cstring>

#include "mrvlc/tensor/float16.h"
#include "product/gemm_kernels.h"

namespace mrvlc::ops {
namespace {

// What columns of b are multiplied with in one go: with the columns, packed, it stays in the first-level
// cache.
constexpr int64_t kDepth = 256;
// With fewer rows it does not pay to pack.
constexpr int64_t kPackedFrom = 16;

// Eight columns of b, one after the other.
void pack(int64_t k, const double* b, int64_t ldb, double* packed) {
  for (int64_t p = 0; p < k; ++p) std::memcpy(packed + p * kGemmWide, b + p * ldb, kGemmWide * sizeof *b);
}

// What is left at the right and at the bottom.
void edge(const GemmKernels& kernels, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
          const double* b, int64_t ldb, double* c, int64_t ldc) {
  if (n == 0) return;
  for (int64_t i = 0; i < m; ++i) kernels.row(n, k, a + i * lda, b, ldb, c + i * ldc);
}

template <class T>
void widen(std::span<const T> in, int64_t first, int64_t count, double* out) {
  const T* from = in.data() + first;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(from[i]);
}

}  // namespace

void ref_gemm(const GemmKernels& kernels, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
              const double* b, int64_t ldb, double* c, int64_t ldc) {
  const int64_t m4 = m / kGemmRows * kGemmRows, n4 = n / kGemmNarrow * kGemmNarrow;
  alignas(64) double packed[kDepth * kGemmWide];
  for (int64_t p = 0; p < k; p += kDepth) {
    const int64_t depth = std::min(kDepth, k - p);
    const double *ap = a + p, *bp = b + p * ldb;
    int64_t j = 0;
    for (; m4 > 0 && j + kGemmWide <= n4; j += kGemmWide) {
      const bool packs = m4 >= kPackedFrom;
      if (packs) pack(depth, bp + j, ldb, packed);
      kernels.wide(m4, depth, ap, lda, packs ? packed : bp + j, packs ? kGemmWide : ldb, c + j, ldc);
    }
    if (m4 > 0 && j < n4) kernels.narrow(m4, depth, ap, lda, bp + j, ldb, c + j, ldc);
    edge(kernels, m4, n - n4, depth, ap, lda, bp + n4, ldb, c + n4, ldc);
    edge(kernels, m - m4, n, depth, ap + m4 * lda, lda, bp, ldb, c + m4 * ldc, ldc);
  }
}

void ref_gemm(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
              double* c, int64_t ldc) {
  ref_gemm(gemm_kernels(), m, n, k, a, lda, b, ldb, c, ldc);
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
