/* Plug-ins with one mistake each, by -DFAULT=N: which, and what mrvlc says of it, stands in plugins.py. */
#include <fenv.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mrvl/plugin.h"

#ifndef FAULT
#define FAULT 0
#endif

static int legal(void* context, const mrvl_plugin_region* layer, mrvl_plugin_answer* answer) {
  (void)context, (void)layer, (void)answer;
#if FAULT == 13
  return -7;
#elif FAULT == 14
  answer->condition = "mood";
  answer->actual = "bad";
  answer->limit = "good";
  answer->reason = "It does not feel like it.";
  return 0;
#elif FAULT == 20
  exit(0);
#elif FAULT == 21
  _Exit(0);
#elif FAULT == 22
  raise(SIGSEGV);
  return 1;
#elif FAULT == 33
  exit(200);
#elif FAULT == 29
  puts("HELLO");
  return 1;
#else
  return 1;
#endif
}

static int cost(void* context, const mrvl_plugin_region* region, double* seconds) {
  (void)context, (void)region;
  *seconds = 1e-9;
#if FAULT == 24
  *seconds = -1;
#elif FAULT == 25
  return 3;
#endif
  return 0;
}

static const char* error(void* context) {
  (void)context;
  return "out of order";
}

static int encode(void* context, const mrvl_plugin_region* region, mrvl_plugin_code* code) {
  static unsigned char bytes[4] = {1, 2, 3, 4};
  static mrvl_plugin_range range;
  (void)context, (void)region;
  range.begin = 0;
  range.end = 1;
  range.layer = 0;
  range.node = 0;
  code->bytes = bytes;
  code->byte_count = sizeof bytes;
  code->ranges = &range;
  code->range_count = 1;
#if FAULT == 6
  return 3;
#elif FAULT == 7
  code->bytes = NULL;
#elif FAULT == 8
  code->byte_count = (uint64_t)1 << 40;
#elif FAULT == 9
  code->range_count = 0;
#elif FAULT == 10
  range.begin = 1;
  range.end = 2;
#elif FAULT == 11
  range.layer = 99;
#elif FAULT == 34
  code->range_cycles = (const uint64_t*)8;
#elif FAULT == 23
  ++bytes[0];
#endif
  return 0;
}

static int run(void* context, const void* bytes, uint64_t byte_count, const mrvl_input* inputs,
               size_t input_count, const mrvl_output* outputs, size_t output_count) {
  (void)context, (void)bytes, (void)byte_count, (void)inputs, (void)input_count, (void)outputs,
      (void)output_count;
#if FAULT == 26
  memset((char*)outputs[0].data + outputs[0].bytes, 1, 4);
  return 0;
#elif FAULT == 27
  memset((void*)(size_t)inputs[0].data, 1, 4);
  return 0;
#elif FAULT == 31
  return 0;
#elif FAULT == 32
  memset(outputs[0].data, 1, outputs[0].bytes - 16);
  return 0;
#else
  return 5;
#endif
}

#if FAULT == 28
/* As a library that is built with -ffast-math changes what the thread computes. */
__attribute__((constructor)) static void change(void) {
  fesetround(FE_UPWARD);
}
#elif FAULT == 30
__attribute__((constructor)) static void change(void) {
  atexit(abort);
}
#endif

#if FAULT == 34
/* Of version 1 nothing behind `run` is asked. */
static int never(void* context, const mrvl_plugin_option* options, uint32_t count) {
  (void)context, (void)options, (void)count;
  abort();
}
#endif

#if FAULT != 1
const mrvl_plugin* mrvl_plugin_open(void) {
#if FAULT == 2
  return NULL;
#else
  static mrvl_plugin table = {
      MRVL_PLUGIN_VERSION, sizeof(mrvl_plugin), "faulty", NULL, error, legal, cost, encode, run, NULL, NULL};
#if FAULT == 3
  table.version = MRVL_PLUGIN_VERSION + 1;
#elif FAULT == 4
  table.size = 24;
#elif FAULT == 5
  table.encode = NULL;
#elif FAULT == 12
  table.name = "another";
#elif FAULT == 15
  table.legal = NULL;
#elif FAULT == 16
  table.name = NULL;
#elif FAULT == 34
  table.version = 1;
  table.configure = never;
#endif
  return &table;
#endif
}
#endif
