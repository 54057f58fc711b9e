//@ piece dot: base
/* Sums of products of bytes, exact modulo 2^32. */
// A quad is four bytes in 32 bits; K_QSUM(s, x, w) adds, in each lane, the products of a quad of unsigned
// x (K_QX) and one of signed w (K_QW). The machine has an instruction for it, or one for pairs of 16 bits,
// which even and odd bytes make; others multiply in 32 bits. None saturates. K_QVW lanes a vector, 0:
// scalars; K_QTILE pixels a tile, K_QROWS rows.
#define K_QTILE 32
#define K_QROWS 16
#if !K_VW || !(defined(__clang__) || __GNUC__ >= 9)
#define K_QVW 0
#elif defined(__AVX512VNNI__)
#include <immintrin.h>
#define K_QVW 16
#define K_DOT(s, x, w) (K_qv) _mm512_dpbusd_epi32((__m512i)(s), (__m512i)(x), (__m512i)(w))
#elif defined(__AVXVNNI__)
#include <immintrin.h>
#define K_QVW 8
#define K_DOT(s, x, w) (K_qv) _mm256_dpbusd_avx_epi32((__m256i)(s), (__m256i)(x), (__m256i)(w))
#elif defined(__AVX512BW__)
#include <immintrin.h>
#define K_QVW 16
#define K_QPAIRS(s, x, w) (s) + (K_qv)_mm512_madd_epi16((__m512i)(x), (__m512i)(w))
#elif defined(__AVX2__)
#include <immintrin.h>
#define K_QVW 8
#define K_QPAIRS(s, x, w) (s) + (K_qv)_mm256_madd_epi16((__m256i)(x), (__m256i)(w))
#elif defined(__SSE2__)
#include <emmintrin.h>
#define K_QVW 4
#define K_QPAIRS(s, x, w) (s) + (K_qv)_mm_madd_epi16((__m128i)(x), (__m128i)(w))
#elif defined(__ARM_FEATURE_MATMUL_INT8)
#include <arm_neon.h>
#define K_QVW 4
#define K_DOT(s, x, w) (K_qv) vusdotq_s32((int32x4_t)(s), (uint8x16_t)(x), (int8x16_t)(w))
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#define K_QVW 4
// Both operands are signed: x is its lower seven bits, and the highest as 64 twice.
#define K_SDOT(s, x, w) vdotq_s32(s, (int8x16_t)(x), (int8x16_t)(w))
#define K_TOP(x) (((x) >> 1) & 0x40404040u)
#define K_DOT(s, x, w) \
  (K_qv) K_SDOT(K_SDOT(K_SDOT((int32x4_t)(s), (x)&0x7f7f7f7fu, w), K_TOP(x), w), K_TOP(x), w)
#else
#define K_QVW 4
#define K_QPAIRS(s, x, w) \
  (s) + ((x)&0xffffu) * (K_qv)((K_qs)((w) << 16) >> 16) + ((x) >> 16) * (K_qv)((K_qs)(w) >> 16)
#endif
#if K_QVW
typedef unsigned K_qv __attribute__((vector_size(K_QVW * 4)));
typedef unsigned K_qvu __attribute__((vector_size(K_QVW * 4), aligned(4), may_alias));
typedef int K_qs __attribute__((vector_size(K_QVW * 4)));
#define K_QLOAD(p) ((K_qv)(*(const K_qvu*)(const void*)(p)))
#define K_QSTORE(p, v) (*(K_qvu*)(void*)(p) = (v))
#define K_QALL(v) ((K_qv){0} + (v))
typedef float K_qf __attribute__((vector_size(K_QVW * 4)));
// The greater and the smaller, the second operand where they cannot be compared. Lowest bytes, to memory.
#if K_QVW == 16
#define K_QMAX(v, w) (K_qf) _mm512_max_ps((__m512)(v), (__m512)(w))
#define K_QMIN(v, w) (K_qf) _mm512_min_ps((__m512)(v), (__m512)(w))
#define K_QNARROW(p, v) _mm_storeu_si128((__m128i*)(void*)(p), _mm512_cvtepi32_epi8((__m512i)(v)))
#elif K_QVW == 8
#define K_QMAX(v, w) (K_qf) _mm256_max_ps((__m256)(v), (__m256)(w))
#define K_QMIN(v, w) (K_qf) _mm256_min_ps((__m256)(v), (__m256)(w))
#define K_QLOW(v) _mm256_and_si256((__m256i)(v), _mm256_set1_epi32(255))
#define K_QPACK(v) _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))
#define K_QNARROW(p, v) \
  _mm_storel_epi64((__m128i*)(void*)(p), _mm_packus_epi16(K_QPACK(K_QLOW(v)), K_QPACK(K_QLOW(v))))
#elif defined(__SSE2__)
#define K_QMAX(v, w) (K_qf) _mm_max_ps((__m128)(v), (__m128)(w))
#define K_QMIN(v, w) (K_qf) _mm_min_ps((__m128)(v), (__m128)(w))
#define K_QLOW(v) _mm_and_si128((__m128i)(v), _mm_set1_epi32(255))
#define K_QPACK(v) _mm_packs_epi32(v, v)
#define K_QNARROW(p, v) \
  do { \
    const int low_ = _mm_cvtsi128_si32(_mm_packus_epi16(K_QPACK(K_QLOW(v)), K_QPACK(K_QLOW(v)))); \
    memcpy(p, &low_, 4); \
  } while (0)
#else
#define K_QPICK(m, v, w) ((K_qf)(((K_qv)(v) & (K_qv)(m)) | ((K_qv)(w) & ~(K_qv)(m))))
#define K_QMAX(v, w) K_QPICK((v) > (w), v, w)
#define K_QMIN(v, w) K_QPICK((v) < (w), v, w)
typedef unsigned char K_qb __attribute__((vector_size(K_QVW)));
typedef unsigned char K_qbu __attribute__((vector_size(K_QVW), aligned(1), may_alias));
#define K_QNARROW(p, v) (*(K_qbu*)(void*)(p) = __builtin_convertvector(v, K_qb))
#endif
#endif
#if defined(K_DOT)
#define K_QX(x, v) const K_qv x = (v)
#define K_QW(w, v) const K_qv w = (v)
#define K_QSUM(s, x, w) s = K_DOT(s, x, w)
#elif K_QVW
typedef short K_qh __attribute__((vector_size(K_QVW * 4)));
typedef unsigned short K_qhu __attribute__((vector_size(K_QVW * 4)));
#define K_QEVEN(v) (K_qv)((K_qh)((K_qhu)(v) << 8) >> 8)
#define K_QODD(v) (K_qv)((K_qh)(v) >> 8)
#define K_QX(x, v) const K_qv x##e = (v)&0xff00ffu, x##o = ((v) >> 8) & 0xff00ffu
#define K_QW(w, v) const K_qv w##e = K_QEVEN(v), w##o = K_QODD(v)
#define K_QSUM(s, x, w) s = K_QPAIRS(K_QPAIRS(s, x##e, w##e), x##o, w##o)
#else
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif
static uint32_t K_quad(uint32_t s, uint32_t x, uint32_t w) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
  const int32_t even = __smlad((int16x2_t)__uxtb16(x), __sxtb16((int8x4_t)w), (int32_t)s);
  return (uint32_t)__smlad((int16x2_t)__uxtb16(x >> 8), __sxtb16((int8x4_t)(w >> 8)), even);
#else
  for (int i = 0; i < 4; ++i, x >>= 8, w >>= 8) s += (x & 255u) * ((w & 127u) - (w & 128u));
  return s;
#endif
}
#endif

//@ piece requantize: dot
/* What becomes of sums: y = saturate(round((sum + bias) * scale) + zero), the saturation as bounds of what is
 * rounded; without `scale` the sums themselves. `centre`: zero points of rows of weights, or NULL. */
// Rows of channels, or of columns, of which `scale`, `bias` and `centre` are the first one's.
typedef struct K_scales {
  const float* scale;
  const uint32_t *bias, *centre;
  float lo, hi;
  int zero;
} K_scales;

// To nearest even: with 1.5 * 2^23 added, the magnitudes between the bounds are the lowest bits of a float.
#if !K_QVW
static uint8_t K_rounded(uint32_t sum, float scale, const K_scales* e) {
  float v = (float)(int32_t)sum * scale;
  v = v > e->lo ? v : e->lo;
  v = v < e->hi ? v : e->hi;
  return (uint8_t)((int)((v + 12582912.0f) - 12582912.0f) + e->zero);
}
#endif

// n sums, a multiple of 16, with a bias and scale for each (step 1) or for all (0).
static void K_rounds(const uint32_t* t, ptrdiff_t n, const uint32_t* bias, const float* scale, ptrdiff_t step,
    const K_scales* e, uint8_t* z) {
#if K_QVW
  const K_qf lo = (K_qf){0} + e->lo, hi = (K_qf){0} + e->hi;
  for (ptrdiff_t j = 0; j < n; j += K_QVW) {
    const K_qv b = step ? K_QLOAD(bias + j) : K_QALL(*bias);
    const K_qf c = step ? (K_qf)K_QLOAD(scale + j) : (K_qf){0} + *scale;
    K_qf v = __builtin_convertvector((K_qs)(K_QLOAD(t + j) + b), K_qf) * c;
    v = K_QMAX(v, lo);
    v = K_QMIN(v, hi);
    K_QNARROW(z + j, (K_qv)(v + 12582912.0f) + (unsigned)e->zero);
  }
#else
  for (ptrdiff_t j = 0; j < n; ++j) z[j] = K_rounded(t[j] + bias[j * step], scale[j * step], e);
#endif
}

//@ piece copy_bytes: base
/* n bytes in vectors, the last ones overlapping: calls of memcpy cost more than such short runs. */
static void K_copy_bytes(uint8_t* to, const uint8_t* from, ptrdiff_t n) {
  if (n >= 16) {
    for (ptrdiff_t i = 0; i + 16 < n; i += 16) memcpy(to + i, from + i, 16);
    memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 8) {
    memcpy(to, from, 8);
    memcpy(to + n - 8, from + n - 8, 8);
  } else if (n >= 4) {
    memcpy(to, from, 4);
    memcpy(to + n - 4, from + n - 4, 4);
  } else if (n > 0) {
    to[0] = from[0];
    to[n / 2] = from[n / 2];
    to[n - 1] = from[n - 1];
  }
}

// Every step-th of n bytes.
static void K_copy_every(uint8_t* to, const uint8_t* from, ptrdiff_t step, ptrdiff_t n) {
  if (step == 1) {
    K_copy_bytes(to, from, n);
  } else if (step == 2) {
    for (ptrdiff_t i = 0; i < n; ++i) to[i] = from[2 * i];
  } else {
    for (ptrdiff_t i = 0; i < n; ++i) to[i] = from[step * i];
  }
}

//@ piece quads: dot
/* to[j] = the bytes a[j], b[j], c[j], d[j], with `flip` of each. */
static void K_quads(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d, ptrdiff_t n,
    uint32_t flip, uint32_t* to) {
#if K_QVW == 16
#define K_QBYTES(p) (K_qv) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)(const void*)(p)))
  const ptrdiff_t whole = n / 16 * 16;
  for (ptrdiff_t j = 0; j < whole; j += 16) {
    const K_qv v = K_QBYTES(a + j) | K_QBYTES(b + j) << 8 | K_QBYTES(c + j) << 16 | K_QBYTES(d + j) << 24;
    K_QSTORE(to + j, v ^ flip);
  }
#elif K_QVW && defined(__SSE2__)
#define K_QBYTES(p) _mm_loadu_si128((const __m128i*)(const void*)(p))
#define K_QPUT(i, v) _mm_storeu_si128((__m128i*)(void*)(to + j + (i)), _mm_xor_si128(v, mask))
  const __m128i mask = _mm_set1_epi32((int)flip);
  const ptrdiff_t whole = n / 16 * 16;
  for (ptrdiff_t j = 0; j < whole; j += 16) {
    const __m128i p = K_QBYTES(a + j), q = K_QBYTES(b + j), r = K_QBYTES(c + j), s = K_QBYTES(d + j);
    const __m128i x = _mm_unpacklo_epi8(p, q), y = _mm_unpacklo_epi8(r, s);
    const __m128i z = _mm_unpackhi_epi8(p, q), w = _mm_unpackhi_epi8(r, s);
    K_QPUT(0, _mm_unpacklo_epi16(x, y));
    K_QPUT(4, _mm_unpackhi_epi16(x, y));
    K_QPUT(8, _mm_unpacklo_epi16(z, w));
    K_QPUT(12, _mm_unpackhi_epi16(z, w));
  }
#else
  const ptrdiff_t whole = 0;
#endif
  for (ptrdiff_t j = whole; j < n; ++j)
    to[j] = ((uint32_t)a[j] | (uint32_t)b[j] << 8 | (uint32_t)c[j] << 16 | (uint32_t)d[j] << 24) ^ flip;
}

//@ piece quad_sums: base
/* Sums of the bytes of k quads, b[k][ldb], for n pixels. */
static void K_quad_sums(ptrdiff_t k, const uint32_t* b, ptrdiff_t ldb, ptrdiff_t n, uint32_t* sums) {
  for (ptrdiff_t j = 0; j < n; ++j) sums[j] = 0;
  for (ptrdiff_t i = 0; i < k; ++i, b += ldb) {
    for (ptrdiff_t j = 0; j < n; ++j)
      sums[j] += (b[j] & 255u) + (b[j] >> 8 & 255u) + (b[j] >> 16 & 255u) + (b[j] >> 24);
  }
}
