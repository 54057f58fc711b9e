/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulation counted, at the end of a program. */
#include <stdio.h>
#include <stdlib.h>

#include "mrvl_gemmini_isa.h"

static void report(void) {
  const mrvl_gemmini_counts* c = &mrvl_gemmini_counted;
  fprintf(stderr, "gemmini: %llu instructions, %llu products, %llu unfenced\n",
          (unsigned long long)c->instructions, (unsigned long long)c->computes,
          (unsigned long long)c->unfenced);
}

__attribute__((constructor)) static void install(void) {
  atexit(report);
}
