/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax without floats or tables: exp by a polynomial and products of constants, the reciprocal by Newton's
 * steps, as in gemmlowp's fixedpoint.h. */
#include "arm_nnfunctions.h"
#include "fixed.h"

/* a * b * 2^-31, to nearest, ties away from zero. */
static int32_t product(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t exact = (int64_t)a * b;
  return (int32_t)((exact + (exact >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30))) / ((int64_t)1 << 31));
}

/* x * 2^n, saturated. */
static int32_t times_power(int32_t x, int n) {
  const int64_t value = (int64_t)x * ((int64_t)1 << n);
  return (int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

/* Of x in [-1/4, 0), 31 bits behind the point: the series around -1/8. */
static int32_t exp_of_quarter(int32_t x) {
  const int32_t at_eighth = 1895147668, third = 715827883;
  const int32_t t = x + (1 << 28), t2 = product(t, t), t3 = product(t2, t), t4 = product(t2, t2);
  const int32_t rest = divided(product(divided(t4, 2) + t3, third) + t2, 1);
  return at_eighth + product(at_eighth, t + rest);
}

/* Of x <= 0, 26 bits behind the point; the result has 31. */
static int32_t exp_of_negative(int32_t x) {
  static const int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  if (x == 0) return INT32_MAX;
  const int32_t quarter = 1 << 24, inside = (x & (quarter - 1)) - quarter, rest = inside - x;
  int32_t y = exp_of_quarter(inside * 32);
  for (int i = 0; i < 7; ++i) {
    if (rest & (1 << (24 + i))) y = product(y, kPowers[i]);
  }
  return y;
}

/* 1 / (1 + x) of x in [0, 1), 31 bits behind the point. */
static int32_t reciprocal(int32_t x) {
  const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t y = 1515870810 + product(half, -1010580540);
  for (int i = 0; i < 3; ++i) y += times_power(product(y, (1 << 29) - product(half, y)), 2);
  return times_power(y, 1);
}

static int32_t leading_zeros(uint32_t x) {
  int32_t n = 0;
  for (uint32_t bit = UINT32_C(1) << 31; bit != 0 && !(x & bit); bit >>= 1) ++n;
  return n;
}

static void softmax_row(const int8_t* x, int32_t size, int32_t mult, int32_t factor, int32_t diff_min,
                        int8_t* y) {
  int32_t most = x[0], sum = 0;
  for (int32_t i = 1; i < size; ++i) most = x[i] > most ? x[i] : most;
  for (int32_t i = 0; i < size; ++i) {
    if (x[i] - most >= diff_min) sum += divided(exp_of_negative(product((x[i] - most) * factor, mult)), 12);
  }
  const int32_t headroom = leading_zeros((uint32_t)sum);
  const int32_t scale = reciprocal((int32_t)(((uint32_t)sum << headroom) - (UINT32_C(1) << 31)));
  for (int32_t i = 0; i < size; ++i) {
    int32_t value = -128;
    if (x[i] - most >= diff_min)
      value = divided(product(scale, exp_of_negative(product((x[i] - most) * factor, mult))), 35 - headroom) -
              128;
    y[i] = (int8_t)(value > 127 ? 127 : value);
  }
}

void arm_softmax_s8(const int8_t* input, int32_t num_rows, int32_t row_size, int32_t mult, int32_t shift,
                    int32_t diff_min, int8_t* output) {
  const int32_t factor = (int32_t)(UINT32_C(1) << shift);
  for (int32_t r = 0; r < num_rows; ++r, input += row_size, output += row_size)
    softmax_row(input, row_size, mult, factor, diff_min, output);
}
