// Blocks of rows by columns whose sums stay in registers. Compiled with -ffp-contract=off.
#include "product/gemm_kernels.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mrvlc::ops {
namespace {

namespace portable {

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

// The eight sums stay in registers.
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

void narrow(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
            int64_t ldc) {
  for (int64_t i = 0; i < m; i += kGemmRows) block(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
}

void wide(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
          int64_t ldc) {
  narrow(m, k, a, lda, b, ldb, c, ldc);
  narrow(m, k, a, lda, b + kGemmNarrow, ldb, c + kGemmNarrow, ldc);
}

void row(int64_t n, int64_t k, const double* a, const double* b, int64_t ldb, double* c) {
  for (int64_t p = 0; p < k; ++p) {
    const double w = a[p];
    const double* from = b + p * ldb;
    int64_t j = 0;
    for (; j + 2 <= n; j += 2) add_to(c + j, w * load(from + j));
    if (j < n) c[j] += w * from[j];
  }
}

constexpr GemmKernels kSet = {"portable", wide, narrow, row};

}  // namespace portable

#if defined(__x86_64__)

#define MRVLC_GEMM_AVX2 __attribute__((target("avx2")))
#define MRVLC_GEMM_AVX512 __attribute__((target("avx512f,avx2")))

namespace avx2 {

// Rows by V vectors of four columns.
template <int Rows, int V>
MRVLC_GEMM_AVX2 void block(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                           int64_t ldc) {
  __m256d s[Rows][V];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < V; ++v) s[i][v] = _mm256_setzero_pd();
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    __m256d x[V];
    for (int v = 0; v < V; ++v) x[v] = _mm256_loadu_pd(b + 4 * v);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const __m256d w = _mm256_broadcast_sd(a + i * lda + p);
      for (int v = 0; v < V; ++v) s[i][v] = _mm256_add_pd(s[i][v], _mm256_mul_pd(w, x[v]));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
    for (int v = 0; v < V; ++v) {
      double* to = c + i * ldc + 4 * v;
      _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), s[i][v]));
    }
}

MRVLC_GEMM_AVX2 void wide(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                          double* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i += kGemmRows) block<4, 2>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
}

MRVLC_GEMM_AVX2 void narrow(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                            double* c, int64_t ldc) {
  for (int64_t i = 0; i < m; i += kGemmRows) block<4, 1>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
}

MRVLC_GEMM_AVX2 void row(int64_t n, int64_t k, const double* a, const double* b, int64_t ldb, double* c) {
  int64_t j = 0;
  for (; j + 8 <= n; j += 8) {
    __m256d s0 = _mm256_loadu_pd(c + j), s1 = _mm256_loadu_pd(c + j + 4);
    const double* from = b + j;
    for (int64_t p = 0; p < k; ++p, from += ldb) {
      const __m256d w = _mm256_broadcast_sd(a + p);
      s0 = _mm256_add_pd(s0, _mm256_mul_pd(w, _mm256_loadu_pd(from)));
      s1 = _mm256_add_pd(s1, _mm256_mul_pd(w, _mm256_loadu_pd(from + 4)));
    }
    _mm256_storeu_pd(c + j, s0), _mm256_storeu_pd(c + j + 4, s1);
  }
  if (j < n) portable::row(n - j, k, a, b + j, ldb, c + j);
}

constexpr GemmKernels kSet = {"avx2", wide, narrow, row};

}  // namespace avx2

namespace avx512 {

template <int Rows>
MRVLC_GEMM_AVX512 void block(int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
                             int64_t ldc) {
  __m512d s[Rows];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) s[i] = _mm512_setzero_pd();
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    const __m512d x = _mm512_loadu_pd(b);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
      s[i] = _mm512_add_pd(s[i], _mm512_mul_pd(_mm512_set1_pd(a[i * lda + p]), x));
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
    _mm512_storeu_pd(c + i * ldc, _mm512_add_pd(_mm512_loadu_pd(c + i * ldc), s[i]));
}

MRVLC_GEMM_AVX512 void wide(int64_t m, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb,
                            double* c, int64_t ldc) {
  int64_t i = 0;
  for (; i + 8 <= m; i += 8) block<8>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
  if (i < m) block<4>(k, a + i * lda, lda, b, ldb, c + i * ldc, ldc);
}

MRVLC_GEMM_AVX512 void row(int64_t n, int64_t k, const double* a, const double* b, int64_t ldb, double* c) {
  int64_t j = 0;
  for (; j + 16 <= n; j += 16) {
    __m512d s0 = _mm512_loadu_pd(c + j), s1 = _mm512_loadu_pd(c + j + 8);
    const double* from = b + j;
    for (int64_t p = 0; p < k; ++p, from += ldb) {
      const __m512d w = _mm512_set1_pd(a[p]);
      s0 = _mm512_add_pd(s0, _mm512_mul_pd(w, _mm512_loadu_pd(from)));
      s1 = _mm512_add_pd(s1, _mm512_mul_pd(w, _mm512_loadu_pd(from + 8)));
    }
    _mm512_storeu_pd(c + j, s0), _mm512_storeu_pd(c + j + 8, s1);
  }
  if (j < n) avx2::row(n - j, k, a, b + j, ldb, c + j);
}

constexpr GemmKernels kSet = {"avx512", wide, avx2::narrow, row};

}  // namespace avx512

#endif

}  // namespace

const GemmKernels& portable_gemm_kernels() {
  return portable::kSet;
}

const GemmKernels* gemm_kernels_at(int index) {
  if (index == 0) return &portable::kSet;
#if defined(__x86_64__)
  if (index == 1 && __builtin_cpu_supports("avx2")) return &avx2::kSet;
  if (index == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f")) return &avx512::kSet;
#endif
  return nullptr;
}

const GemmKernels& gemm_kernels() {
  static const GemmKernels& chosen = []() -> const GemmKernels& {
    int last = 0;
    while (gemm_kernels_at(last + 1) != nullptr) ++last;
    return *gemm_kernels_at(last);
  }();
  return chosen;
}

}  // namespace mrvlc::ops
