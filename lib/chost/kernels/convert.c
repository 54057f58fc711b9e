//@ piece f64_to_odd: base
/* A float of the same sign whose last bit is set when it is not exact: rounding it again rounds once. */
static float K_f64_to_odd(double d) {
  float f = (float)d;
  const double back = (double)f;
  uint32_t bits;
  if (back == d || isnan(d)) return f;
  memcpy(&bits, &f, sizeof bits);
  if ((d > 0.0) == (back > d) && (bits & 0x7fffffffu) != 0u) --bits;
  bits |= 1u;
  memcpy(&f, &bits, sizeof f);
  return f;
}

//@ piece narrow_to_f32: base
/* A float of eight bits or less: `man` bits of mantissa, the exponent's bias, the bit of the sign. */
// Without sign, `inf` is infinity and codes from `nan` on are NaN; nan of 0x80 is the whole code of the
// only one.
static float K_narrow_to_f32(unsigned code, int man, int bias, unsigned sign, unsigned inf, unsigned nan) {
  const unsigned mag = code & (sign - 1u), field = mag >> man, low = mag & ((1u << man) - 1u);
  float v =
      ldexpf((float)(field != 0u ? low + (1u << man) : low), (field != 0u ? (int)field : 1) - bias - man);
  if (mag == inf) v = INFINITY;
  if (nan == 0x80u ? code == nan : mag >= nan) v = NAN;
  return (code & sign) != 0u ? -v : v;
}

//@ piece f64_to_narrow: base
/* Rounds to nearest even; `top` is the greatest finite code and `past` the code of what is greater. */
static uint8_t K_f64_to_narrow(
    double v, int man, int bias, unsigned sign, unsigned top, unsigned past, unsigned nan) {
  const unsigned s = signbit(v) ? sign : 0u;
  unsigned code = past;
  int step = 0;
  if (isnan(v)) return (uint8_t)(nan == sign ? nan : nan | s);
  v = fabs(v);
  (void)frexp(v, &step);
  step = v == 0.0 || step < 2 - bias ? 0 : step - 2 + bias;
  if (isfinite(v) && step < 64) {
    const double q = ldexp(v, man + bias - 1 - step), f = floor(q), d = q - f;
    const unsigned n = (unsigned)f;
    code = ((unsigned)step << man) + n + (d > 0.5 || (d == 0.5 && (n & 1u) != 0u) ? 1u : 0u);
    if (code > top) code = past;
  }
  if (nan == 0x80u && (code & 0x7fu) == 0u) return (uint8_t)code;
  return (uint8_t)(code | s);
}

//@ piece e8m0_to_f32: base
static float K_e8m0_to_f32(unsigned code) {
  return code == 255u ? NAN : ldexpf(1.0f, (int)code - 127);
}

//@ piece f64_to_e8m0: base
/* The power of two below, or above for significands in [0.5, 1) that are greater than `up`. */
static uint8_t K_f64_to_e8m0(double v, double up, unsigned past) {
  int e = 0;
  double f;
  if (isnan(v) || isinf(v)) return 255;
  f = frexp(fabs(v), &e);
  if (f == 0.0 || e < -126) return 0;
  e += f > up ? 127 : 126;
  return (uint8_t)(e > 254 ? past : (unsigned)e);
}
