//@ piece math: base
/* Functions of floats without calls, branches and tables, so that loops over them become vector code. */
// Their polynomials have the least relative error (Remez); how far results are from the true values is
// said in units of the last place, for results that are normal numbers, and tested over all floats of the
// range. On some machines the C library takes the place of what calls them.
#if defined(__GNUC__)
#define K_inline inline __attribute__((always_inline, unused))
#else
#define K_inline inline
#endif

static K_inline int32_t K_bits(float x) {
  int32_t i;
  memcpy(&i, &x, sizeof i);
  return i;
}

static K_inline float K_from_bits(int32_t i) {
  float x;
  memcpy(&x, &i, sizeof x);
  return x;
}

//@ piece exp_part: math
/* 2^n for -126 <= n <= 127. */
static K_inline float K_power(int32_t n) {
  return K_from_bits((int32_t)((uint32_t)(n + 127) << 23));
}

// x = n log 2 + r with |r| <= log(2) / 2, log 2 in two parts of which the first times n is exact.
// Adding 1.5 * 2^23 rounds to an integer, which the last bits of the sum then hold.
static K_inline float K_reduce(float x, int32_t* n) {
  const float t = x * 1.44269504f + 12582912.0f, m = t - 12582912.0f;
  *n = (int32_t)((uint32_t)K_bits(t) - 0x4b400000u);
  return x - m * 0.693359375f + m * 2.12194440e-4f;
}

// e^r - 1 for |r| <= log(2) / 2.
static K_inline float K_exp_part(float r) {
  float q = 1.381419177e-03f;
  q = q * r + 8.368913682e-03f;
  q = q * r + 4.166840717e-02f;
  q = q * r + 1.666651901e-01f;
  q = q * r + 4.999999334e-01f;
  return q * (r * r) + r;
}

//@ piece exp_near: exp_part
/* e^x within 2 units for -87 <= x <= 80, where one factor does. */
static K_inline float K_exp_near(float x) {
  int32_t n;
  const float y = K_exp_part(K_reduce(x, &n)) + 1.0f;
  return y * K_power(n);
}

//@ piece exp_below: exp_near
/* e^x within 2 units for x <= 0, but 0 below -87, where what is right is less than 2e-38. */
static K_inline float K_exp_below(float x) {
  const float y = K_exp_near(x);
  return x < -87.0f ? 0.0f : y;
}

//@ piece exp: exp_part
/* Within 2 units. The power is applied in two halves: either alone would leave the range near its ends. */
static K_inline float K_exp(float x) {
  int32_t n;
  const float low = x < -104.0f ? -104.0f : x, v = low > 89.0f ? 89.0f : low;
  const float y = K_exp_part(K_reduce(v, &n)) + 1.0f;
  const int32_t half = n >> 1;
  return y * K_power(half) * K_power(n - half);
}

//@ piece expm1: exp
/* e^x - 1 within 3 units: 2^n (1 + p) - 1 = 2^n p + (2^n - 1). */
static K_inline float K_expm1(float x) {
  int32_t n;
  const float low = x < -60.0f ? -60.0f : x, v = low > 80.0f ? 80.0f : low;
  const float p = K_exp_part(K_reduce(v, &n)), scale = K_power(n);
  const float y = scale * p + (scale - 1.0f);
  return x > 80.0f ? K_exp(x) : x == 0.0f ? x : y;
}

//@ piece tanh: exp_near
/* Within 2 units: an odd polynomial below 0.625, above 1 - 2 / (e^2|x| + 1). */
static K_inline float K_tanh(float x) {
  const float a = fabsf(x), z = x * x, t = a > 20.0f ? 20.0f : a;
  const float far = 1.0f - 2.0f / (K_exp_near(2.0f * t) + 1.0f);
  float q = -5.704988625e-03f;
  q = q * z + 2.063908872e-02f;
  q = q * z + -5.373971554e-02f;
  q = q * z + 1.333144220e-01f;
  q = q * z + -3.333328194e-01f;
  q = q * z * x + x;
  return a < 0.625f ? q : x < 0.0f ? -far : x > 0.0f ? far : x;
}

//@ piece log: math
/* Within 2 units. x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) = f - f^2 / 2 + f^3 q(f). */
static K_inline float K_log(float x) {
  const int small = x < 1.17549435e-38f;
  const uint32_t bits = (uint32_t)K_bits(small ? x * 8388608.0f : x) - 0x3f3504f3u;
  const int32_t n = ((int32_t)bits >> 23) - (small ? 23 : 0);
  const float f = K_from_bits((int32_t)((bits & 0x007fffffu) + 0x3f3504f3u)) - 1.0f, m = (float)n, z = f * f;
  float q = 6.746648381e-02f;
  q = q * f + -1.167565505e-01f;
  q = q * f + 1.188816058e-01f;
  q = q * f + -1.240558831e-01f;
  q = q * f + 1.421955251e-01f;
  q = q * f + -1.666799589e-01f;
  q = q * f + 2.000211865e-01f;
  q = q * f + -2.500000960e-01f;
  q = q * f + 3.333331260e-01f;
  q = q * f * z - m * 2.12194440e-4f - 0.5f * z + f + m * 0.693359375f;
  q = x > 3.402823466e+38f ? x : q;
  return x > 0.0f ? q : x == 0.0f ? -INFINITY : NAN;
}

//@ piece log1p: log
/* Within 4 units: log(w) u / (w - 1) with w = 1 + u as it is rounded. */
static K_inline float K_log1p(float u) {
  const float w = 1.0f + u, d = w - 1.0f, y = d == 0.0f ? u : K_log(w) * (u / d);
  return u > 1e30f ? K_log(u) : y;
}

//@ piece erf: exp_near
/* Within 3 units: an odd polynomial up to 1, above 1 - e^-p(|x|) with p = -log(erfc). */
static K_inline float K_erf(float x) {
  const float a = fabsf(x), z = x * x, t = a > 4.0f ? 4.0f : a;
  float q = 7.853864343e-05f, p = -1.863790358e-04f;
  q = q * z + -8.010194478e-04f;
  q = q * z + 5.188327776e-03f;
  q = q * z + -2.685381198e-02f;
  q = q * z + 1.128358515e-01f;
  q = q * z + -3.761262582e-01f;
  q = q * z + 1.283791657e-01f;
  p = p * t + 2.947656763e-03f;
  p = p * t + -2.183805782e-02f;
  p = p * t + 1.031067416e-01f;
  p = p * t + 6.381448477e-01f;
  p = p * t + 1.127089181e+00f;
  p = p * t + 3.415252274e-04f;
  p = 1.0f - K_exp_near(-p);
  return a <= 1.0f ? q * x + x : x < 0.0f ? -p : x > 0.0f ? p : x;
}

//@ piece gelu: exp_near
/* x times the normal distribution's integral up to x. That is p = e^(-x^2 / 2) t q(t) up to -|x|, with
 * t = 1 / (1 + 0.3 |x|), and 1 - p up to |x|: within 1e-6 of the result at -5, 5e-6 at -12.6, and 1e-34
 * below. */
static K_inline float K_gelu(float x) {
  const float far = fabsf(x), a = far > 12.6f ? 12.6f : far, t = 1.0f / (1.0f + 0.3f * a);
  float p = 3.635741397e-02f;
  p = p * t + -1.600611210e-01f;
  p = p * t + 2.113065422e-01f;
  p = p * t + -5.827418342e-02f;
  p = p * t + 1.310107112e-01f;
  p = p * t + 9.916378558e-02f;
  p = p * t + 1.208755523e-01f;
  p = p * t + 1.196212545e-01f;
  p = far > 14.5f ? 0.0f : p * t * K_exp_near(-0.5f * a * a);
  return x * (x > 0.0f ? 1.0f - p : p);
}

//@ piece quarter: math
/* Vectors with shifts of their own for each element; without, the C library takes half as long. */
#if K_VW && (defined(__AVX2__) || defined(__ARM_NEON))
#define K_QUARTERS 1
static K_inline uint32_t K_high(uint32_t a, uint32_t b) {
  return (uint32_t)(((uint64_t)a * b) >> 32);
}

/* b where the mask has ones, else a. */
static K_inline uint32_t K_word_of(uint32_t mask, uint32_t a, uint32_t b) {
  return a ^ ((a ^ b) & mask);
}

/* 32 bits from the `up`-th on of two words. */
static K_inline uint32_t K_funnel(uint32_t a, uint32_t b, uint32_t up) {
  return a << up | b >> 1 >> (31u - up);
}

/* |x| = 2 pi k + n pi / 2 + r with |r| <= pi / 4 and n of 0 to 3, as near as if computed without end (Payne
 * and Hanek): |x| is an integer of 24 bits times 2^s, and of 2 / pi times that only 96 bits from the s-th on
 * change the angle. Without tables: which words of 2 / pi these are is chosen by the upper bits of s. */
static K_inline float K_quarter(float x, uint32_t* n) {
  const uint32_t bits = (uint32_t)K_bits(x) & 0x7fffffffu, e = bits >> 23, s = e < 126u ? 0u : e - 126u;
  const uint32_t shift = s > 127u ? 127u : s, m = ((bits & 0x007fffffu) | 0x00800000u) << (s >> 7);
  const uint32_t far = 0u - (shift >> 6), odd = 0u - (shift >> 5 & 1u), up = shift & 31u;
  const uint32_t t0 = K_word_of(far, 0x00000028u, 0x91054a7fu), t1 = K_word_of(far, 0xbe60db93u, 0x09d5f47du);
  const uint32_t t2 = K_word_of(far, 0x91054a7fu, 0x4d377036u), t3 = K_word_of(far, 0x09d5f47du, 0xd8a5664fu);
  const uint32_t t4 = K_word_of(far, 0x4d377036u, 0x10e4107fu), u0 = K_word_of(odd, t0, t1),
                 u1 = K_word_of(odd, t1, t2);
  const uint32_t u2 = K_word_of(odd, t2, t3), u3 = K_word_of(odd, t3, t4), w1 = K_funnel(u1, u2, up);
  /* |x| 2 / pi modulo 4 in units of 2^-62. */
  const uint32_t carried = K_high(m, K_funnel(u2, u3, up)), low = m * w1 + carried;
  const uint32_t high = m * K_funnel(u0, u1, up) + K_high(m, w1) + (low < carried ? 1u : 0u),
                 turn = high + 0x20000000u;
  /* What is left of a quarter in units of 2^-12, 2^-36 and 2^-60; the first times pi / 2 is exact in two
   * parts. */
  const int32_t rest = (int32_t)(turn & 0x3fffffffu) - 0x20000000, most = (rest + 0x20000) >> 18;
  const uint32_t left = (uint32_t)rest - ((uint32_t)most << 18);
  const float a = (float)most, b = (float)(int32_t)(left << 6 | low >> 26),
              c = (float)(int32_t)(low >> 2 & 0xffffffu);
  const float r = a * 0.000383496284f + (a * -1.08751341e-09f + (b * 2.28580956e-11f + c * 1.36244867e-18f));
  const float y = bits < 0x7f800000u ? r : NAN, v = K_from_bits((int32_t)bits);
  *n = v < 0.785398185f ? 0u : turn >> 30;
  return v < 0.785398185f ? v : y;
}

/* sin r and cos r for |r| <= pi / 4. */
static K_inline float K_sin_part(float r) {
  const float z = r * r;
  float q = -1.951521809e-04f;
  q = q * z + 8.332160292e-03f;
  q = q * z + -1.666665460e-01f;
  return q * z * r + r;
}

static K_inline float K_cos_part(float r) {
  const float z = r * r;
  float q = 2.443308268e-05f;
  q = q * z + -1.388731562e-03f;
  q = q * z + 4.166664567e-02f;
  return q * (z * z) - 0.5f * z + 1.0f;
}

/* y, with the other sign where the highest bit is one. */
static K_inline float K_signed(float y, uint32_t bit) {
  return K_from_bits((int32_t)((uint32_t)K_bits(y) ^ (bit & 0x80000000u)));
}
#else
#define K_QUARTERS 0
#endif

//@ piece sin: quarter
#if K_QUARTERS
/* Within 2 units. */
static K_inline float K_sin(float x) {
  uint32_t n;
  const float r = K_quarter(x, &n), s = K_sin_part(r), c = K_cos_part(r);
  return K_signed((n & 1u) != 0 ? c : s, n << 30 ^ (uint32_t)K_bits(x));
}
#else
#define K_sin sinf
#endif

//@ piece cos: quarter
#if K_QUARTERS
/* Within 2 units. */
static K_inline float K_cos(float x) {
  uint32_t n;
  const float r = K_quarter(x, &n), s = K_sin_part(r), c = K_cos_part(r);
  return K_signed((n & 1u) != 0 ? s : c, (n + 1u) << 30);
}
#else
#define K_cos cosf
#endif

//@ piece tan: quarter
#if K_QUARTERS
/* Within 4 units: sin r / cos r, or -cos r / sin r. */
static K_inline float K_tan(float x) {
  uint32_t n;
  const float r = K_quarter(x, &n), s = K_sin_part(r), c = K_cos_part(r);
  const float over = (n & 1u) != 0 ? c : s, under = (n & 1u) != 0 ? s : c;
  return K_signed(over / under, n << 31 ^ (uint32_t)K_bits(x));
}
#else
#define K_tan tanf
#endif
