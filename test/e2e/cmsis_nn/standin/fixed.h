/* SPDX-License-Identifier: Apache-2.0 */
/* Integers as fixed-point numbers. */
#ifndef STANDIN_FIXED_H
#define STANDIN_FIXED_H
#include <stdint.h>

/* value / 2^n, to nearest, ties away from zero. */
static inline int32_t divided(int32_t value, int32_t n) {
  const int64_t half = n == 0 ? 0 : (int64_t)1 << (n - 1), v = value;
  return (int32_t)(v < 0 ? -((-v + half) >> n) : (v + half) >> n);
}

/* value * multiplier * 2^(shift - 31), rounded by the multiplication and by the shift to the right. */
static inline int32_t requantized(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
  const int64_t shifted = (int32_t)((uint32_t)value << left);
  const int64_t product = shifted * multiplier + ((int64_t)1 << 30);
  return divided((int32_t)(product >= 0 ? product >> 31 : -((-product + INT32_MAX) >> 31)), right);
}
#endif
