// The inner loops of ref_gemm, for AVX-512, for AVX2 and in plain C++. All give the same bits: each element's
// products are added one by one, in order, and never fused with the addition.
#pragma once
#include <cstdint>

namespace mrvlc::ops {

inline constexpr int64_t kGemmRows = 4, kGemmWide = 8, kGemmNarrow = 4;

struct GemmKernels {
  const char* name;
  // c[i][0..7] += (sum over k of a[i][k] * b[k][0..7]), the sum from 0 on, for every i < m; m is a multiple
  // of kGemmRows.
  void (*wide)(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
               int64_t ldc);
  // The same of 4 columns.
  void (*narrow)(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                 int64_t ldc);
  // c[j] += a[0] * b[0][j], then += a[1] * b[1][j] and so on, for every j < n.
  void (*row)(int64_t n, int64_t k, const double* a, const double* b, int64_t ldb, double* c);
};

// The fastest set this processor runs.
const GemmKernels& gemm_kernels();
// Plain C++, for comparison.
const GemmKernels& portable_gemm_kernels();
// Those that this processor runs, the plain ones first; null: no more.
const GemmKernels* gemm_kernels_at(int index);

}  // namespace mrvlc::ops
