//@ piece math: base
/* Functions of floats without calls, branches and tables, so that loops over them become vector code. */
// Their polynomials have the least relative error (Remez); how far results are from the true values is
// said in units of the last place, for results that are normal numbers, and tested over all floats of the
// range.
#if defined(__GNUC__)
#define K_inline inline __attribute__((always_inline))
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
/* e^x within 2 units for |x| <= 80, where one factor does. */
static K_inline float K_exp_near(float x) {
  int32_t n;
  const float y = K_exp_part(K_reduce(x, &n)) + 1.0f;
  return y * K_power(n);
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
