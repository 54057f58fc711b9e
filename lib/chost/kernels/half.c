//@ piece half: base
/* The number that 16 bits stand for (IEEE 754, binary16), but infinities and NaN. */
// As bits of a float it is 2^112 times as small. That product would do, but subnormal numbers of 16 bits
// become subnormal floats in it, which a program linked with -ffast-math takes for zero. So the exponent is
// added, and those numbers are differences of others.
#if defined(__GNUC__)
#define K_UNUSED __attribute__((unused))
#else
#define K_UNUSED
#endif
K_UNUSED static float K_half(uint16_t h) {
#if defined(__ARM_FP16_FORMAT_IEEE)
  __fp16 v;
  memcpy(&v, &h, sizeof v);
  return (float)v;
#else
  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, magnitude = (uint32_t)(h & 0x7fffu) << 13;
  uint32_t bits = magnitude + (112u << 23);
  float v;
  if (magnitude < 1u << 23) {
    bits = magnitude + (113u << 23);
    memcpy(&v, &bits, sizeof v);
    v -= 0x1p-14f;
    memcpy(&bits, &v, sizeof v);
  }
  bits |= sign;
  memcpy(&v, &bits, sizeof v);
  return v;
#endif
}

//@ piece half_load: half
/* Numbers of 16 bits that lie side by side, as a vector of floats. */
#if K_VW == 8 && defined(__F16C__)
typedef short K_half_vec __attribute__((vector_size(16), aligned(2), may_alias));
#define K_LOAD_HALF(p) ((K_vec)__builtin_ia32_vcvtph2ps256(*(const K_half_vec*)(const void*)(p)))
#elif K_VW && defined(__aarch64__)
#include <arm_neon.h>
#define K_LOAD_HALF(p) ((K_vec)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))))
#elif K_VW
// All of them in the upper halves of words.
typedef uint32_t K_half_bits __attribute__((vector_size(K_VW * 4)));
typedef int32_t K_half_order __attribute__((vector_size(K_VW * 4)));
#if K_VW == 4 && defined(__SSE2__)
typedef short K_half_vec __attribute__((vector_size(16)));
typedef long long K_half_pair __attribute__((vector_size(16)));
typedef long long K_half_four __attribute__((aligned(2), may_alias));
#if defined(__clang__)
#define K_HALF_PICK(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#else
#define K_HALF_PICK(a, b) __builtin_shuffle(a, b, (K_half_vec){0, 8, 1, 9, 2, 10, 3, 11})
#endif
#define K_HALF_UPPER(p) \
  ((K_half_order)K_HALF_PICK( \
      (K_half_vec){0}, (K_half_vec)((K_half_pair){*(const K_half_four*)(const void*)(p), 0})))
#else
typedef uint16_t K_half_vec __attribute__((vector_size(K_VW * 2), aligned(2), may_alias));
#define K_HALF_UPPER(p) \
  ((K_half_order)(__builtin_convertvector(*(const K_half_vec*)(const void*)(p), K_half_bits) << 16))
#endif
K_UNUSED static K_vec K_half_load(const uint16_t* p) {
  const K_half_order upper = K_HALF_UPPER(p);
  const K_half_order magnitude = (upper >> 3) & 0x0fffffff, is_small = magnitude < 1 << 23;
  const K_half_order small = (K_half_order)((K_vec)(magnitude + (113 << 23)) - 0x1p-14f);
  const K_half_order sign = upper & (K_half_order)((K_half_bits){0} + 0x80000000u);
  return (K_vec)((is_small & small) | (~is_small & (magnitude + (112 << 23))) | sign);
}
#define K_LOAD_HALF(p) K_half_load(p)
#endif
#if K_WIDE
typedef short K_half_wide __attribute__((vector_size(32), aligned(2), may_alias));
#if defined(__clang__)
#define K_HALF_ALL (unsigned short)65535
#else
#define K_HALF_ALL (short)-1
#endif
#define K_WIDE_LOAD_HALF(p) \
  ((K_wide)__builtin_ia32_vcvtph2ps512_mask( \
      *(const K_half_wide*)(const void*)(p), (K_wide){0}, K_HALF_ALL, 4))
#define K_LOAD_HALF_SUMS(p) K_WIDE_LOAD_HALF(p)
#else
#define K_LOAD_HALF_SUMS(p) K_LOAD_HALF(p)
#endif

//@ piece half_lanes: half_load
// 16 of them.
static void K_half_lanes(const uint16_t* from, float* to) {
#if K_VW
  for (ptrdiff_t j = 0; j < K_LANES; j += K_VW) K_STORE(to + j, K_LOAD_HALF(from + j));
#else
  for (ptrdiff_t j = 0; j < K_LANES; ++j) to[j] = K_half(from[j]);
#endif
}
// A loop of conversions and one of sums: compilers make vectors of both, and not of one of either.
#define K_HALF_LANES_OF(w, p) \
  float w[K_LANES]; \
  K_half_lanes(p, w)

//@ piece half_panels: half_load
/* n weights of a panel, which begin `at` weights, an even number, behind the first one: where they lie, or,
 * where they have 16 bits, unpacked to `to`. */
// w: the first of them, or the first pair.
static const float* K_panel_at(const float* w, ptrdiff_t at, ptrdiff_t n, float* to) {
  const uint16_t* const from = (const uint16_t*)(const void*)(w + at / 2);
  ptrdiff_t i = 0;
  if (!to) return w + at;
#if K_VW
  for (; i + K_VW <= n; i += K_VW) K_STORE(to + i, K_LOAD_HALF(from + i));
#endif
  for (; i < n; ++i) to[i] = K_half(from[i]);
  return to;
}
