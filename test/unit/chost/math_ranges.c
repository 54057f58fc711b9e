/* How far the functions of kernels/math.c are from libm's of double, in units of the last place: over every
 * float of a binade and every 97th of all that give normal numbers. Prints what is beyond its bound. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base.c"
#include "math.c"

typedef struct function {
  const char* name;
  float (*f)(float);
  double (*truth)(double);
  float low, high; /* in which results are normal numbers */
  double bound;
} function;

static float exp_f(float x) {
  return K_exp(x);
}
static float expm1_f(float x) {
  return K_expm1(x);
}
static float tanh_f(float x) {
  return K_tanh(x);
}
static float log_f(float x) {
  return K_log(x);
}
static float log1p_f(float x) {
  return K_log1p(x);
}
static float erf_f(float x) {
  return K_erf(x);
}

static float sin_f(float x) {
  return K_sin(x);
}
static float cos_f(float x) {
  return K_cos(x);
}
static float tan_f(float x) {
  return K_tan(x);
}

static double distance(float y, double truth) {
  int e;
  if (isinf(y) && fabs(truth) > 3.4028235677973366e38) return 0; /* as it would be rounded */
  if (fabs(truth) < 1.1754943508222875e-38) return fabs((double)y - truth) <= 1.2e-38 ? 0 : 1e9;
  frexp(truth, &e);
  return fabs((double)y - truth) / ldexp(1, e - 24);
}

static int worst(const function* f, uint32_t first, uint32_t past, uint32_t step) {
  double most = 0;
  float at = 0;
  for (uint64_t i = first; i < past; i += step) {
    const uint32_t bits = (uint32_t)i;
    float x;
    memcpy(&x, &bits, sizeof x);
    if (!(x >= f->low && x <= f->high)) continue;
    const double d = distance(f->f(x), f->truth((double)x));
    if (!(d <= most)) most = d, at = x;
  }
  if (most <= f->bound) return 0;
  printf("%s(%.9g) is %.9g, %.2f units off\n", f->name, (double)at, (double)f->f(at), most);
  return 1;
}

/* Infinities, zeros with their signs, and what is no number. */
static int edges(const function* f) {
  const float x[] = {INFINITY, -INFINITY, 0.0f, -0.0f, NAN, 1e-40f, 3.4e38f, -3.4e38f};
  int wrong = 0;
  for (size_t i = 0; i < sizeof x / sizeof *x; ++i) {
    const float y = f->f(x[i]), t = (float)f->truth((double)x[i]);
    const int same =
        isnan(t) ? isnan(y) : y == t && (t != 0.0f || f->f == exp_f || !signbit(y) == !signbit(t));
    const int near = isfinite(t) && isfinite(y) && distance(y, f->truth((double)x[i])) <= f->bound;
    if (same || near) continue;
    printf("%s(%.9g) is %.9g, not %.9g\n", f->name, (double)x[i], (double)y, (double)t);
    wrong = 1;
  }
  return wrong;
}

int main(void) {
  const function all[] = {{"exp", exp_f, exp, -87.3f, 89.0f, 2},
                          {"expm1", expm1_f, expm1, -200.0f, 89.0f, 3},
                          {"tanh", tanh_f, tanh, -200.0f, 200.0f, 2},
                          {"log", log_f, log, 1e-45f, 3.4e38f, 2},
                          {"log1p", log1p_f, log1p, -0.9999999f, 3.4e38f, 4},
                          {"erf", erf_f, erf, -100.0f, 100.0f, 3},
                          {"sin", sin_f, sin, -3.4e38f, 3.4e38f, 2},
                          {"cos", cos_f, cos, -3.4e38f, 3.4e38f, 2},
                          {"tan", tan_f, tan, -3.4e38f, 3.4e38f, 4}};
  int wrong = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    wrong |= worst(&all[i], 0x3f000000u, 0x3f800000u, 1); /* [0.5, 1) */
    wrong |= worst(&all[i], 0xbf000000u, 0xbf800000u, 1); /* (-1, -0.5] */
    wrong |= worst(&all[i], 0, 0xffffffffu, 97);
    wrong |= edges(&all[i]);
  }
  return wrong;
}
