/* SPDX-License-Identifier: Apache-2.0 */
/* Maxima in windows, as stores of the accumulator compute them: 16 channels of some rows and columns at a
 * time. Pixels outside of the image count as 0. */
#include "mrvl_gemmini.h"
#include "mrvl_gemmini_isa.h"

enum { MOST_PIXELS = 255 }; /* along a side, what the fields of a store hold */

/* Along one side: windows first..first + count - 1 of the result, and the pixels they read. */
typedef struct side {
  int32_t first, count, from, pixels, pad;
} side;

static int32_t smaller(int32_t a, int32_t b) {
  return a < b ? a : b;
}

static side side_of(int32_t first, int32_t count, int32_t in, int32_t kernel, int32_t stride, int32_t pad) {
  side s = {first, count, first * stride - pad, 0, 0};
  const int32_t end = smaller(in, s.from + (count - 1) * stride + kernel);
  if (s.from < 0) {
    s.pad = -s.from;
    s.from = 0;
  }
  s.pixels = end - s.from;
  return s;
}

/* One block of channels: the pixels come as sums, and go as maxima. */
static void pool_tile(const mrvl_gemmini_shape* p, const side* rows, const side* columns, int32_t image,
                      int32_t channel, int32_t half, const int8_t* x, int8_t* y) {
  const size_t pitch = (size_t)p->in_channels;
  const int32_t channels = smaller(GEMMINI_DIM, p->in_channels - channel);
  const uint32_t sums = GEMMINI_SUMS | (uint32_t)(half * GEMMINI_HALF_OF_SUMS);
  for (int32_t r = 0; r < rows->pixels; ++r) {
    const size_t row = (size_t)image * (size_t)p->in.rows + (size_t)(rows->from + r);
    const int8_t* from = x + (row * (size_t)p->in.columns + (size_t)columns->from) * pitch + channel;
    for (int32_t c = 0; c < columns->pixels; c += GEMMINI_DIM)
      gemmini_load(GEMMINI_IMAGE, from + (size_t)c * pitch, sums + (uint32_t)(r * columns->pixels + c),
                   smaller(GEMMINI_DIM, columns->pixels - c), channels);
  }
  const size_t first = (size_t)image * (size_t)p->out.rows + (size_t)rows->first;
  int8_t* to = y + (first * (size_t)p->out.columns + (size_t)columns->first) * pitch + channel;
  const gemmini_window w = {p->kernel.rows, p->strides.rows, rows->pad,    columns->pad,   p->out.columns,
                            rows->count,    columns->count,  rows->pixels, columns->pixels};
  gemmini_config_pool(pitch, &w);
  gemmini_store(to, sums, 1, channels);
}

int mrvl_gemmini_max_pool(const mrvl_gemmini_shape* p, const int8_t* x, int8_t* y) {
  const int32_t kernel = p->kernel.rows, stride = p->strides.rows;
  /* As many columns as a tile may have, then as many rows as there is memory for. */
  const int32_t most = smaller(MOST_PIXELS, GEMMINI_HALF_OF_SUMS / kernel);
  const int32_t across = smaller(p->out.columns, (most - kernel) / stride + 1);
  const int32_t width = (across - 1) * stride + kernel;
  const int32_t height = smaller(MOST_PIXELS, GEMMINI_HALF_OF_SUMS / width);
  const int32_t down = smaller(p->out.rows, (height - kernel) / stride + 1);
  int32_t half = 0;
  if (p->out.columns > MOST_PIXELS || kernel > 3 || stride > 3) return 1;
  gemmini_begin();
  gemmini_config_load(GEMMINI_IMAGE, (size_t)p->in_channels, GEMMINI_DIM, 1, 1);
  for (int32_t n = 0; n < p->images; ++n) {
    for (int32_t r = 0; r < p->out.rows; r += down) {
      const side rows = side_of(r, smaller(down, p->out.rows - r), p->in.rows, kernel, stride, p->pads.rows);
      for (int32_t c = 0; c < p->out.columns; c += across) {
        const int32_t count = smaller(across, p->out.columns - c);
        const side columns = side_of(c, count, p->in.columns, kernel, stride, p->pads.columns);
        for (int32_t k = 0; k < p->in_channels; k += GEMMINI_DIM, half = 1 - half)
          pool_tile(p, &rows, &columns, n, k, half, x, y);
      }
    }
  }
  gemmini_end();
  return 0;
}

int mrvl_gemmini_conv_max_pool(const mrvl_gemmini_shape* conv, const int8_t* x, const int8_t* w,
                               const int32_t* b, double scale, const mrvl_gemmini_shape* pool, void* between,
                               int8_t* y) {
  int8_t* image = (int8_t*)between;
  return mrvl_gemmini_conv(conv, x, w, b, scale, 1, image) || mrvl_gemmini_max_pool(pool, image, y);
}
