/* SPDX-License-Identifier: Apache-2.0 */
/* How well the package's tiles use the array: the layers of ResNet-18 for images of 224 x 224, one image,
 * counted by the emulation. `bound`: multiply-accumulates / 256. `array`: rows fed to the array. */
#include <stdio.h>
#include <stdlib.h>

#include "mrvl_gemmini.h"
#include "mrvl_gemmini_isa.h"

typedef struct layer {
  const char* name;
  int times, in, in_channels, out_channels, kernel, stride, pad;
} layer;

static const layer kLayers[] = {{"7 x 7, 3 to 64, /2", 1, 224, 3, 64, 7, 2, 3},
                                {"3 x 3, 64", 4, 56, 64, 64, 3, 1, 1},
                                {"3 x 3, 64 to 128, /2", 1, 56, 64, 128, 3, 2, 1},
                                {"1 x 1, 64 to 128, /2", 1, 56, 64, 128, 1, 2, 0},
                                {"3 x 3, 128", 3, 28, 128, 128, 3, 1, 1},
                                {"3 x 3, 128 to 256, /2", 1, 28, 128, 256, 3, 2, 1},
                                {"1 x 1, 128 to 256, /2", 1, 28, 128, 256, 1, 2, 0},
                                {"3 x 3, 256", 3, 14, 256, 256, 3, 1, 1},
                                {"3 x 3, 256 to 512, /2", 1, 14, 256, 512, 3, 2, 1},
                                {"1 x 1, 256 to 512, /2", 1, 14, 256, 512, 1, 2, 0},
                                {"3 x 3, 512", 3, 7, 512, 512, 3, 1, 1},
                                {"dense, 512 to 1000", 1, 1, 512, 1000, 1, 1, 0}};

static int8_t* bytes(size_t count) {
  int8_t* p = calloc(count, 1);
  if (!p) exit(1);
  return p;
}

/* The bound and the cycles of one run, added to the totals. */
static int measure(const layer* l, double* bounds, double* cycles) {
  const int out = (l->in + 2 * l->pad - l->kernel) / l->stride + 1, taps = l->kernel * l->kernel;
  const mrvl_gemmini_shape shape = {1,
                                    {l->in, l->in},
                                    {out, out},
                                    l->in_channels,
                                    l->out_channels,
                                    1,
                                    {l->kernel, l->kernel},
                                    {l->stride, l->stride},
                                    {l->pad, l->pad},
                                    {1, 1}};
  int8_t* x = bytes((size_t)(l->in * l->in * l->in_channels));
  int8_t* w = bytes((size_t)(taps * l->in_channels * l->out_channels));
  int32_t* b = (int32_t*)(void*)bytes(4 * (size_t)l->out_channels);
  int8_t* y = bytes((size_t)(out * out * l->out_channels));
  const mrvl_gemmini_counts before = mrvl_gemmini_counted;
  const int failed = mrvl_gemmini_conv(&shape, x, w, b, 1, 0, y);
  const mrvl_gemmini_counts* c = &mrvl_gemmini_counted;
  const double bound = (double)out * out * taps * l->in_channels * l->out_channels / 256;
  const double array = (double)(c->array_cycles - before.array_cycles);
  printf("| %-22s | %d | %7.0f | %7.0f | %3.0f %% | %6.0f | %6.0f |\n", l->name, l->times, bound, array,
         100 * bound / array, (double)(c->rows_in - before.rows_in), (double)(c->rows_out - before.rows_out));
  *bounds += l->times * bound;
  *cycles += l->times * array;
  free(x), free(w), free(b), free(y);
  return failed;
}

int main(void) {
  double bounds = 0, cycles = 0;
  int failed = 0;
  printf(
      "| convolution | times | bound | array | of the bound | rows in | rows out "
      "|\n|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof kLayers / sizeof *kLayers; ++i)
    failed |= measure(&kLayers[i], &bounds, &cycles);
  printf("| all | | %.0f | %.0f | %.0f %% | | |\n", bounds, cycles, 100 * bounds / cycles);
  return failed;
}
