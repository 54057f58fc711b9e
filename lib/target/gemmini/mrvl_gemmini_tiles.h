/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution of one group, which products of matrices are too, cut into tiles for Gemmini's memories. */
#ifndef MRVL_GEMMINI_TILES_H
#define MRVL_GEMMINI_TILES_H
#include <stddef.h>

#include "mrvl_gemmini.h"

typedef struct gemmini_product {
  mrvl_gemmini_size in, out, kernel, strides, pads, dilations;
  int32_t images, in_channels, out_channels;
  /* Bytes from pixel to pixel, and from the weights of one input channel to the next. */
  size_t in_pitch, out_pitch, weight_pitch;
  const int8_t *x, *w;
  const int32_t* b; /* may be null */
  int8_t* y;
  double scale;
  int relu;
} gemmini_product;

/* Issues its instructions, without a fence. 1: no tile fits. */
int mrvl_gemmini_product(const gemmini_product* p);

#endif
