/* SPDX-License-Identifier: Apache-2.0 */
/* Layers as products of tiles: what each group, or each 16 channels, read and write. */
#include "mrvl_gemmini.h"

#include "mrvl_gemmini_isa.h"
#include "mrvl_gemmini_tiles.h"

static int32_t at_most(int32_t value, int64_t limit) {
  return value < limit ? value : (int32_t)limit;
}

static gemmini_product whole(const mrvl_gemmini_shape* s, const int8_t* x, const int8_t* w, const int32_t* b,
                             double scale, int relu, int8_t* y) {
  gemmini_product p = {0};
  p.in = s->in;
  p.out = s->out;
  p.kernel = s->kernel;
  p.strides = s->strides;
  p.pads = s->pads;
  p.dilations = s->dilations;
  p.images = s->images;
  p.in_channels = s->in_channels / s->groups;
  p.out_channels = s->out_channels / s->groups;
  p.in_pitch = (size_t)s->in_channels;
  p.out_pitch = (size_t)s->out_channels;
  p.weight_pitch = (size_t)s->out_channels;
  p.x = x;
  p.w = w;
  p.b = b;
  p.y = y;
  p.scale = scale;
  p.relu = relu;
  return p;
}

/* Where each pixel depends on one pixel, in the same order, all images are one row. */
static void join_pixels(gemmini_product* p) {
  const int64_t pixels = (int64_t)p->images * p->in.rows * p->in.columns;
  const int alone = p->kernel.rows == 1 && p->kernel.columns == 1 && p->strides.rows == 1 &&
                    p->strides.columns == 1 && p->in.rows == p->out.rows && p->in.columns == p->out.columns &&
                    p->pads.rows == 0 && p->pads.columns == 0;
  if (!alone || pixels > INT32_MAX) return;
  p->images = 1;
  p->in.rows = p->out.rows = 1;
  p->in.columns = p->out.columns = (int32_t)pixels;
}

int mrvl_gemmini_conv(const mrvl_gemmini_shape* shape, const int8_t* x, const int8_t* w, const int32_t* b,
                      double scale, int relu, int8_t* y) {
  gemmini_product p = whole(shape, x, w, b, scale, relu, y);
  int failed = 0;
  join_pixels(&p);
  gemmini_begin();
  for (int32_t g = 0; g < shape->groups && !failed; ++g) {
    failed = mrvl_gemmini_product(&p);
    p.x += p.in_channels;
    p.w += p.out_channels;
    p.y += p.out_channels;
    if (b) p.b += p.out_channels;
  }
  gemmini_end();
  return failed;
}

/* 16 x 16 weights for each tap of the kernel: one channel's reach that channel alone. */
static void expand(const int8_t* w, int32_t taps, int32_t channels, int32_t first, int32_t count,
                   int8_t* to) {
  memset(to, 0, (size_t)taps * GEMMINI_DIM * GEMMINI_DIM);
  for (int32_t t = 0; t < taps; ++t) {
    for (int32_t c = 0; c < count; ++c)
      to[((size_t)t * (size_t)count + (size_t)c) * GEMMINI_DIM + (size_t)c] =
          w[(size_t)t * (size_t)channels + (size_t)first + (size_t)c];
  }
}

int mrvl_gemmini_depthwise(const mrvl_gemmini_shape* shape, const int8_t* x, const int8_t* w,
                           const int32_t* b, double scale, int relu, void* expanded, int8_t* y) {
  const int32_t taps = shape->kernel.rows * shape->kernel.columns, channels = shape->in_channels;
  const size_t block = (size_t)taps * GEMMINI_DIM * GEMMINI_DIM;
  gemmini_product p = whole(shape, x, w, b, scale, relu, y);
  int8_t* diagonals = (int8_t*)expanded;
  int failed = 0;
  for (int32_t c = 0; c < channels; c += GEMMINI_DIM)
    expand(w, taps, channels, c, at_most(channels - c, GEMMINI_DIM),
           diagonals + (size_t)(c / GEMMINI_DIM) * block);
  p.weight_pitch = GEMMINI_DIM;
  gemmini_begin();
  for (int32_t c = 0; c < channels && !failed; c += GEMMINI_DIM) {
    p.in_channels = p.out_channels = at_most(channels - c, GEMMINI_DIM);
    p.x = x + c;
    p.w = diagonals + (size_t)(c / GEMMINI_DIM) * block;
    p.b = b ? b + c : NULL;
    p.y = y + c;
    failed = mrvl_gemmini_product(&p);
  }
  gemmini_end();
  return failed;
}

int mrvl_gemmini_dense(int32_t rows, int32_t inputs, int32_t outputs, const int8_t* x, const int8_t* w,
                       const int32_t* b, double scale, int relu, int8_t* y) {
  const mrvl_gemmini_size one = {1, 1}, none = {0, 0}, line = {1, rows};
  const mrvl_gemmini_shape shape = {1, line, line, inputs, outputs, 1, one, one, none, one};
  return mrvl_gemmini_conv(&shape, x, w, b, scale, relu, y);
}

/* Rows of 16 elements: the last one may be shorter, and goes alone. */
static void add_tile(const int8_t* a, const int8_t* b, int8_t* y, int32_t half, int64_t count) {
  const uint32_t sums = GEMMINI_SUMS | (uint32_t)(half * GEMMINI_HALF_OF_SUMS);
  const int32_t rows = count < GEMMINI_DIM ? 1 : at_most(GEMMINI_DIM, count / GEMMINI_DIM);
  const int32_t columns = at_most(GEMMINI_DIM, count);
  gemmini_load(GEMMINI_IMAGE, a, sums, rows, columns);
  gemmini_load(GEMMINI_WEIGHTS, b, sums | GEMMINI_ADD, rows, columns);
  gemmini_store(y, sums, rows, columns);
}

int mrvl_gemmini_add(const int8_t* a, double a_scale, const int8_t* b, double b_scale, double scale, int relu,
                     int64_t count, int8_t* y) {
  const int64_t step = GEMMINI_DIM * GEMMINI_DIM;
  int32_t half = 0;
  gemmini_begin();
  gemmini_config_load(GEMMINI_IMAGE, GEMMINI_DIM, GEMMINI_DIM, a_scale, 1);
  gemmini_config_load(GEMMINI_WEIGHTS, GEMMINI_DIM, GEMMINI_DIM, b_scale, 1);
  gemmini_config_store(GEMMINI_DIM, scale, relu);
  for (int64_t i = 0; i < count;) {
    const int64_t left = count - i;
    const int64_t taken = left >= step ? step : left >= GEMMINI_DIM ? left / GEMMINI_DIM * GEMMINI_DIM : left;
    add_tile(a + i, b + i, y + i, half, taken);
    half = 1 - half;
    i += taken;
  }
  gemmini_end();
  return 0;
}
