/* SPDX-License-Identifier: Apache-2.0 */
/* Layers of quantised networks on Gemmini in its default configuration: 16 x 16 array, int8 operands, int32
 * sums, 256 KiB of scratchpad, 64 KiB of accumulator. Zero points are 0. Images are NHWC, weights HWIO.
 *
 * A sum `acc` of products and bias becomes int8 as the accumulator does it: float32(acc) * float32(scale),
 * both rounded to nearest even, then to the nearest integer (ties to even), limited to -128..127. |acc| must
 * stay below 2^31. A function returns 0, and 1 where no tile fits the memories, which the rules exclude. It
 * returns when its results are in main memory. There is one array: no two calls at a time.
 *
 * On RISC-V the functions issue instructions (mrvl_gemmini_isa.h). On other machines, and with
 * MRVL_GEMMINI_EMULATED, they call an emulation, which also counts what it does. */
#ifndef MRVL_GEMMINI_H
#define MRVL_GEMMINI_H
#include <stdint.h>

typedef struct mrvl_gemmini_size {
  int32_t rows, columns;
} mrvl_gemmini_size;

typedef struct mrvl_gemmini_shape {
  int32_t images;
  mrvl_gemmini_size in, out;
  int32_t in_channels, out_channels, groups;
  /* `pads`: above and on the left. Those below and on the right follow from `out`. */
  mrvl_gemmini_size kernel, strides, pads, dilations;
} mrvl_gemmini_shape;

/* y = relu(conv(x, w) + b) * scale. `w` is [kernel rows][kernel columns][in_channels / groups][out_channels];
 * `b`, one for each output channel, may be null. */
int mrvl_gemmini_conv(const mrvl_gemmini_shape* shape, const int8_t* x, const int8_t* w, const int32_t* b,
                      double scale, int relu, int8_t* y);

/* The same with a group for each channel and as many outputs as inputs: 16 channels at a time. `expanded` is
 * memory for 16 * kernel rows * kernel columns * (in_channels, rounded up to 16) bytes: weights as diagonals.
 */
int mrvl_gemmini_depthwise(const mrvl_gemmini_shape* shape, const int8_t* x, const int8_t* w,
                           const int32_t* b, double scale, int relu, void* expanded, int8_t* y);

/* y = relu(x * w + b) * scale with x [rows][inputs], w [inputs][outputs], y [rows][outputs]. */
int mrvl_gemmini_dense(int32_t rows, int32_t inputs, int32_t outputs, const int8_t* x, const int8_t* w,
                       const int32_t* b, double scale, int relu, int8_t* y);

/* y = relu(round(a * a_scale) + round(b * b_scale)) * scale of `count` elements; a_scale and b_scale up to 1.
 */
int mrvl_gemmini_add(const int8_t* a, double a_scale, const int8_t* b, double b_scale, double scale, int relu,
                     int64_t count, int8_t* y);

/* Maxima in windows of x, the same kernel and stride, 1 to 3, along both sides; at most 255 columns of y.
 * Pixels outside of the image count as 0, so with padding no element of x may be negative. */
int mrvl_gemmini_max_pool(const mrvl_gemmini_shape* shape, const int8_t* x, int8_t* y);

/* A convolution and Relu, then maxima; `between` is memory for the bytes of the convolution's result. */
int mrvl_gemmini_conv_max_pool(const mrvl_gemmini_shape* conv, const int8_t* x, const int8_t* w,
                               const int32_t* b, double scale, const mrvl_gemmini_shape* pool, void* between,
                               int8_t* y);

#endif
