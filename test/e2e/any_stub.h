/* For programs that are written for any stub: NAME in them is replaced by the name of a model. Files, memory,
 * and a run whose inputs are zeros. Included after NAME.h. */
#ifndef MRVL_TEST_ANY_STUB_H
#define MRVL_TEST_ANY_STUB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY ((size_t)64 << 20)

static mrvl_device* simulator;

static int fail(const char* what, const char* file) {
  fprintf(stderr, "%s: %s (%s)\n", file, what, mrvl_simulator_error(simulator));
  return 1;
}

static unsigned char* slurp(const char* file, size_t* bytes) {
  FILE* f = fopen(file, "rb");
  unsigned char* data = (unsigned char*)malloc(MEMORY * 4);
  if (!f || !data) exit(fail("cannot read", file));
  *bytes = fread(data, 1, MEMORY * 4, f);
  fclose(f);
  return data;
}

static void* aligned(size_t bytes) {
  unsigned char* p = (unsigned char*)calloc(bytes + 64, 1);
  if (!p) exit(fail("out of memory", "memory"));
  return p + (64 - (size_t)p % 64) % 64;
}

/* The members of NAME_inputs or NAME_outputs, pointers all: each to the same zeros, which outputs overwrite.
 */
static void point_all(void* members, size_t bytes) {
  void* memory = aligned(MEMORY);
  for (size_t i = 0; i < bytes / sizeof memory; ++i)
    memcpy((char*)members + i * sizeof memory, &memory, sizeof memory);
}

#endif
