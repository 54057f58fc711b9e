// Multiply-add blocks and widening of fp16, chosen once by what the processor has (CPUID).
#include "kernels.h"

#include <cmath>
#include <cstring>

#include "mrvlc/tensor/float16.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mrvlc::sim {
namespace {

constexpr uint16_t kHalfNan = 0x7e00;

namespace portable {

void fma_block(const float* const* x, float* const* acc, size_t pixels, const float* w, size_t length) {
  for (size_t p = 0; p < pixels; ++p)
    for (size_t k = 0; k < length; ++k)
      for (size_t n = 0; n < kLanes; ++n) acc[p][n] = std::fma(x[p][k], w[k * kLanes + n], acc[p][n]);
}

void fma_channels(float* acc, const float* x, const float* w, size_t n) {
  for (size_t i = 0; i < n; ++i) acc[i] = std::fma(x[i], w[i], acc[i]);
}

void widen(const std::byte* halves, float* out, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    uint16_t h = 0;
    std::memcpy(&h, halves + 2 * i, 2);
    out[i] = half_to_float(h);
  }
}

void narrow(const float* in, std::byte* halves, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const uint16_t h = in[i] != in[i] ? kHalfNan : float_to_half(in[i]);
    std::memcpy(halves + 2 * i, &h, 2);
  }
}

constexpr Kernels kSet = {"portable", fma_block, fma_channels, widen, narrow};

}  // namespace portable

#if defined(__x86_64__)

#define MRVLC_AVX2 __attribute__((target("avx2,fma,f16c")))
#define MRVLC_AVX512 __attribute__((target("avx512f,avx2,fma,f16c")))

namespace avx2 {

// Eight accumulator registers: enough independent chains to hide the latency of a multiply-add.
constexpr size_t kPixels = 4;

template <size_t P>
MRVLC_AVX2 void block(const float* const* x, float* const* acc, const float* w, size_t length) {
  __m256 lo[P], hi[P];
#pragma GCC unroll 8
  for (size_t p = 0; p < P; ++p) lo[p] = _mm256_loadu_ps(acc[p]), hi[p] = _mm256_loadu_ps(acc[p] + 8);
  for (size_t k = 0; k < length; ++k) {
    __m256 w0 = _mm256_loadu_ps(w + k * kLanes), w1 = _mm256_loadu_ps(w + k * kLanes + 8);
#pragma GCC unroll 8
    for (size_t p = 0; p < P; ++p) {
      __m256 v = _mm256_broadcast_ss(x[p] + k);
      lo[p] = _mm256_fmadd_ps(v, w0, lo[p]);
      hi[p] = _mm256_fmadd_ps(v, w1, hi[p]);
    }
  }
#pragma GCC unroll 8
  for (size_t p = 0; p < P; ++p) _mm256_storeu_ps(acc[p], lo[p]), _mm256_storeu_ps(acc[p] + 8, hi[p]);
}

MRVLC_AVX2 void fma_block(const float* const* x, float* const* acc, size_t pixels, const float* w,
                          size_t length) {
  size_t p = 0;
  for (; p + kPixels <= pixels; p += kPixels) block<kPixels>(x + p, acc + p, w, length);
  for (; p < pixels; ++p) block<1>(x + p, acc + p, w, length);
}

MRVLC_AVX2 void fma_channels(float* acc, const float* x, const float* w, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(
        acc + i, _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(w + i), _mm256_loadu_ps(acc + i)));
  for (; i < n; ++i) acc[i] = __builtin_fmaf(x[i], w[i], acc[i]);
}

MRVLC_AVX2 void widen(const std::byte* halves, float* out, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + 2 * i))));
  portable::widen(halves + 2 * i, out + i, n - i);
}

MRVLC_AVX2 void narrow(const float* in, std::byte* halves, size_t n) {
  const __m128i nan = _mm_set1_epi16(kHalfNan);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 v = _mm256_loadu_ps(in + i);
    const __m256i no_number = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m128i mask =
        _mm_packs_epi32(_mm256_castsi256_si128(no_number), _mm256_extracti128_si256(no_number, 1));
    const __m128i half = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + 2 * i), _mm_blendv_epi8(half, nan, mask));
  }
  portable::narrow(in + i, halves + 2 * i, n - i);
}

constexpr Kernels kSet = {"avx2", fma_block, fma_channels, widen, narrow};

}  // namespace avx2

namespace avx512 {

constexpr size_t kPixels = 8;

template <size_t P>
MRVLC_AVX512 void block(const float* const* x, float* const* acc, const float* w, size_t length) {
  __m512 a[P];
#pragma GCC unroll 8
  for (size_t p = 0; p < P; ++p) a[p] = _mm512_loadu_ps(acc[p]);
  for (size_t k = 0; k < length; ++k) {
    __m512 wk = _mm512_loadu_ps(w + k * kLanes);
#pragma GCC unroll 8
    for (size_t p = 0; p < P; ++p) a[p] = _mm512_fmadd_ps(_mm512_set1_ps(x[p][k]), wk, a[p]);
  }
#pragma GCC unroll 8
  for (size_t p = 0; p < P; ++p) _mm512_storeu_ps(acc[p], a[p]);
}

MRVLC_AVX512 void fma_block(const float* const* x, float* const* acc, size_t pixels, const float* w,
                            size_t length) {
  size_t p = 0;
  for (; p + kPixels <= pixels; p += kPixels) block<kPixels>(x + p, acc + p, w, length);
  for (; p + 2 <= pixels; p += 2) block<2>(x + p, acc + p, w, length);
  for (; p < pixels; ++p) block<1>(x + p, acc + p, w, length);
}

constexpr Kernels kSet = {"avx512", fma_block, avx2::fma_channels, avx2::widen, avx2::narrow};

}  // namespace avx512

const Kernels& choose() {
  // Every processor with AVX2 converts halves (F16C), which not every compiler can ask for.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return portable::kSet;
  return __builtin_cpu_supports("avx512f") ? avx512::kSet : avx2::kSet;
}

#else

const Kernels& choose() {
  return portable::kSet;
}

#endif

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

const Kernels& portable_kernels() {
  return portable::kSet;
}

}  // namespace mrvlc::sim
