/* SPDX-License-Identifier: Apache-2.0 */
/* A processing element of a mesh, as the C that mrvlc writes for it sees it: programs, the MAC array,
 * rounding. All of it is software here; on hardware the functions below stand for the element's accelerator.
 * C99. */
#ifndef MRVL_PE_H
#define MRVL_PE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if FLT_EVAL_METHOD != 0
#error "numbers must be computed in their own precision: on x86 use -msse2 -mfpmath=sse"
#endif

/* One part of a layer: reads its inboxes, writes its result. `image`: which of them, counted from 0. */
typedef void (*mrvl_task)(void* memory, uint32_t image);

/* What an element runs. `tasks` are carried out in order, once for every image; each when all of its operands
 * have come and all who read its result can take it. */
struct mrvl_program {
  uint32_t memory_bytes, task_count;
  const mrvl_task* tasks;
};

/* A compile-time assertion for C99: the array has a negative size where `condition` does not hold. */
#define MRVL_CHECK_NAMED(condition, line) typedef char mrvl_check_##line[(condition) ? 1 : -1]
#define MRVL_CHECK_AT(condition, line) MRVL_CHECK_NAMED(condition, line)
#define MRVL_CHECK(condition) MRVL_CHECK_AT(condition, __LINE__)

/* The MAC array: the sum of n products of (x - zero_x) and (w - zero_w), modulo 2^32. */
static inline uint32_t mrvl_mac_i8(const int8_t* x, const int8_t* w, int32_t n, int32_t zero_x,
                                   int32_t zero_w) {
  uint32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += (uint32_t)((x[i] - zero_x) * (w[i] - zero_w));
  return sum;
}
static inline uint32_t mrvl_mac_u8(const uint8_t* x, const int8_t* w, int32_t n, int32_t zero_x,
                                   int32_t zero_w) {
  uint32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += (uint32_t)((x[i] - zero_x) * (w[i] - zero_w));
  return sum;
}

/* saturate(round to even(v) + zero), of a v that is divided by the scale. NaN gives `low`. */
static inline int32_t mrvl_round(float v, int32_t zero, int32_t low, int32_t high) {
  const float least = (float)(low - zero), most = (float)(high - zero);
  if (!(v > least)) return low;
  if (v > most) return high;
  /* Bounds are integers, so that saturating first is the same. The sum rounds: |v| is below 2^22. */
  v += 12582912.0f;
  v -= 12582912.0f;
  return (int32_t)v + zero;
}

#endif
