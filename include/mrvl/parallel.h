/* SPDX-License-Identifier: Apache-2.0 */
/* How a caller lends threads to a host stub that was compiled with `mrvlc compile --threads N`: as a function
 * that runs the parts of a loop. The stub has no threads of its own and keeps nothing between calls; its
 * results are the same bits whatever the number of threads. C99. */
#ifndef MRVL_PARALLEL_H
#define MRVL_PARALLEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Part `part` of `parts` of some work. Parts write different memory and may run in any order. */
typedef void (*mrvl_task)(const void* data, int part, int parts);

typedef struct mrvl_parallel {
  /* How many parts are worth making: as a rule the number of threads that are idle. Less than 2: the calling
   * thread does all. More than NAME_MAX_WORKERS are not made. */
  int workers;
  void* context; /* the caller's own */
  /* parallel_for: calls task(data, part, parts) once for each part in [0, parts), on any threads, at once or
   * one after the other, and returns when all have returned; what they wrote is then seen by the caller. */
  void (*run)(void* context, int parts, mrvl_task task, const void* data);
} mrvl_parallel;

#ifdef __cplusplus
}
#endif

#endif
