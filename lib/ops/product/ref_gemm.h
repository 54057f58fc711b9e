// The matrix product of the reference semantics: operands converted to double, products and sums in double,
// in a fixed order. Products of two floats are exact in double, so the result is good to about k * 2^-53.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::ops {

// c[m x n] += a[m x k] * b[k x n], all row-major and dense; `ldb`, `ldc`: elements from one row to the next.
void ref_gemm(int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
              double* c, int64_t ldc);

// The same with these loops (gemm_kernels.h), for comparison.
void ref_gemm(const struct GemmKernels& kernels, int64_t m, int64_t n, int64_t k, const double* a,
              int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc);

// Elements [first, first + count) as double.
void load_doubles(const Tensor& tensor, int64_t first, int64_t count, double* out);
// Rounds to the tensor's element type.
void store_doubles(Tensor& tensor, int64_t first, int64_t count, const double* in);

}  // namespace mrvlc::ops
