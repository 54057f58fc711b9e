/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, dense layers, pools and sums; softmax.c has the rest. */
#include "arm_nnfunctions.h"

#include <stddef.h>
#include <string.h>

#include "fixed.h"

#ifndef STANDIN_CORE
#define STANDIN_CORE 0
#endif
enum { PLAIN, DSP, MVE };

/* Dirties what the kernel may use; 0: the context has less. */
static int scratch(const cmsis_nn_context* ctx, int64_t bytes) {
  if (bytes == 0) return 1;
  if (ctx->buf == NULL || ctx->size < bytes) return 0;
  memset(ctx->buf, 0x5a, (size_t)bytes);
  return 1;
}

static int8_t clamped(int64_t value, const cmsis_nn_activation* range) {
  return (int8_t)(value < range->min ? range->min : value > range->max ? range->max : value);
}

/* The place of a pixel, -1 in the padding. */
static ptrdiff_t pixel(const cmsis_nn_dims* dims, int32_t n, int32_t y, int32_t x) {
  if (y < 0 || y >= dims->h || x < 0 || x >= dims->w) return -1;
  return (((ptrdiff_t)n * dims->h + y) * dims->w + x) * dims->c;
}

static int64_t rounded_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

static int is_pointwise(const cmsis_nn_conv_params* p, const cmsis_nn_dims* in, const cmsis_nn_dims* f) {
  return p->padding.w == 0 && p->padding.h == 0 && f->w == 1 && f->h == 1 && p->dilation.w == 1 &&
         p->dilation.h == 1 && in->c == f->c;
}

static int is_row(const cmsis_nn_conv_params* p, const cmsis_nn_dims* in, const cmsis_nn_dims* f) {
  return in->h == 1 && f->h == 1 && p->dilation.w == 1 && p->stride.w * in->c % 4 == 0 && in->c == f->c;
}

static int64_t convolve_bytes(const cmsis_nn_dims* in, const cmsis_nn_dims* f) {
  const int64_t k = (int64_t)f->h * f->w * in->c;
  return STANDIN_CORE == MVE ? 4 * rounded_up(k, 16) : 4 * rounded_up(k, 4);
}

/* What the kernels that the wrapper chooses from would not do. */
static arm_cmsis_nn_status convolve_check(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* p,
                                          const cmsis_nn_dims* in, const cmsis_nn_dims* f,
                                          const cmsis_nn_dims* out) {
  if (is_pointwise(p, in, f)) {
    /* It goes over the pixels of the input: a row or column more would be read from nowhere. */
    const int fits = (out->h - 1) * p->stride.h < in->h && (out->w - 1) * p->stride.w < in->w;
    return fits ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_ARG_ERROR;
  }
  if (is_row(p, in, f) && STANDIN_CORE == MVE) {
    const int32_t total = (out->w - 1) * p->stride.w + f->w - in->w;
    if (2 * p->padding.w + total % 2 != total) return ARM_CMSIS_NN_FAILURE;
  }
  const int32_t groups = in->c / f->c;
  if (in->c % groups != 0 || out->c % groups != 0) return ARM_CMSIS_NN_ARG_ERROR;
  return scratch(ctx, convolve_bytes(in, f)) ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_ARG_ERROR;
}

static int32_t window_sum(const cmsis_nn_conv_params* p, const cmsis_nn_dims* in, const int8_t* x,
                          const cmsis_nn_dims* f, const int8_t* w, int32_t first, int32_t n, int32_t row,
                          int32_t column) {
  int32_t sum = 0;
  for (int32_t i = 0; i < f->h; ++i) {
    for (int32_t j = 0; j < f->w; ++j) {
      const ptrdiff_t at = pixel(in, n, row * p->stride.h - p->padding.h + i * p->dilation.h,
                                 column * p->stride.w - p->padding.w + j * p->dilation.w);
      for (int32_t c = 0; at >= 0 && c < f->c; ++c)
        sum += (x[at + first + c] + p->input_offset) * w[(i * f->w + j) * f->c + c];
    }
  }
  return sum;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
                                            const cmsis_nn_per_channel_quant_params* quant,
                                            const cmsis_nn_dims* input_dims, const int8_t* input,
                                            const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                            const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                            const cmsis_nn_dims* output_dims, int8_t* output) {
  const arm_cmsis_nn_status checked = convolve_check(ctx, params, input_dims, filter_dims, output_dims);
  if (checked != ARM_CMSIS_NN_SUCCESS) return checked;
  if (bias_dims->c != output_dims->c) return ARM_CMSIS_NN_ARG_ERROR;
  const int32_t of_group = output_dims->c / (input_dims->c / filter_dims->c);
  const ptrdiff_t filter_size = (ptrdiff_t)filter_dims->h * filter_dims->w * filter_dims->c;
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t i = 0; i < output_dims->h * output_dims->w; ++i) {
      for (int32_t c = 0; c < output_dims->c; ++c) {
        const int32_t sum =
            window_sum(params, input_dims, input, filter_dims, filter + c * filter_size,
                       c / of_group * filter_dims->c, n, i / output_dims->w, i % output_dims->w);
        *output++ =
            clamped((int64_t)requantized(sum + (bias ? bias[c] : 0), quant->multiplier[c], quant->shift[c]) +
                        params->output_offset,
                    &params->activation);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

static arm_cmsis_nn_status depthwise_check(const cmsis_nn_context* ctx, const cmsis_nn_dw_conv_params* p,
                                           const cmsis_nn_dims* in, const cmsis_nn_dims* f,
                                           const cmsis_nn_dims* out) {
  if (out->c != in->c * p->ch_mult || f->c != out->c || f->n != 1) return ARM_CMSIS_NN_ARG_ERROR;
  const int fast = p->ch_mult == 1 && in->n == 1 && p->dilation.w == 1 && p->dilation.h == 1;
  if (!fast) return ARM_CMSIS_NN_SUCCESS;
  if (STANDIN_CORE == MVE && in->c % 4 != 0) return ARM_CMSIS_NN_FAILURE;
  const int three = f->w == 3 && f->h == 3 && p->padding.w <= 1 && p->padding.h <= 1;
  const int64_t bytes = STANDIN_CORE == MVE             ? (int64_t)4 * 124 * f->h * f->w
                        : STANDIN_CORE == DSP && !three ? (int64_t)2 * in->c * f->h * f->w
                                                        : 0;
  return scratch(ctx, bytes) ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_ARG_ERROR;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* ctx,
                                                  const cmsis_nn_dw_conv_params* params,
                                                  const cmsis_nn_per_channel_quant_params* quant,
                                                  const cmsis_nn_dims* input_dims, const int8_t* input,
                                                  const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                                  const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                  const cmsis_nn_dims* output_dims, int8_t* output) {
  const arm_cmsis_nn_status checked = depthwise_check(ctx, params, input_dims, filter_dims, output_dims);
  if (checked != ARM_CMSIS_NN_SUCCESS) return checked;
  if (bias_dims->c != output_dims->c) return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t n = 0; n < output_dims->n; ++n) {
    for (int32_t i = 0; i < output_dims->h * output_dims->w; ++i) {
      for (int32_t c = 0; c < output_dims->c; ++c) {
        int32_t sum = bias ? bias[c] : 0;
        for (int32_t k = 0; k < filter_dims->h * filter_dims->w; ++k) {
          const ptrdiff_t at = pixel(input_dims, n,
                                     i / output_dims->w * params->stride.h - params->padding.h +
                                         k / filter_dims->w * params->dilation.h,
                                     i % output_dims->w * params->stride.w - params->padding.w +
                                         k % filter_dims->w * params->dilation.w);
          if (at >= 0)
            sum += (input[at + c / params->ch_mult] + params->input_offset) * filter[k * filter_dims->c + c];
        }
        *output++ =
            clamped((int64_t)requantized(sum, quant->multiplier[c], quant->shift[c]) + params->output_offset,
                    &params->activation);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_fully_connected_wrapper_s8(const cmsis_nn_context* ctx,
                                                   const cmsis_nn_fc_params* params,
                                                   const cmsis_nn_quant_params* quant,
                                                   const cmsis_nn_dims* input_dims, const int8_t* input,
                                                   const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                                   const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                   const cmsis_nn_dims* output_dims, int8_t* output) {
  const cmsis_nn_dims *in = input_dims, *f = filter_dims, *out = output_dims;
  if (in->h * in->w * in->c != f->n || out->c != f->c || bias_dims->c != out->c)
    return ARM_CMSIS_NN_ARG_ERROR;
  if (STANDIN_CORE == MVE && (ctx->buf == NULL || ctx->size < 4 * out->c)) return ARM_CMSIS_NN_ARG_ERROR;
  const int32_t* sums = (const int32_t*)ctx->buf;
  for (int32_t n = 0; n < in->n; ++n) {
    for (int32_t o = 0; o < out->c; ++o) {
      int32_t sum = STANDIN_CORE == MVE ? sums[o] : bias ? bias[o] : 0;
      const int32_t offset = STANDIN_CORE == MVE ? 0 : params->input_offset;
      for (int32_t i = 0; i < f->n; ++i)
        sum += (input[n * f->n + i] + offset) * (filter[o * f->n + i] + params->filter_offset);
      const int32_t at = quant->is_per_channel ? o : 0;
      *output++ =
          clamped((int64_t)requantized(sum, quant->multiplier[at], quant->shift[at]) + params->output_offset,
                  &params->activation);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

/* Over the taps of one window that lie in the input. */
static int32_t pooled(const cmsis_nn_pool_params* p, const cmsis_nn_dims* in, const int8_t* x,
                      const cmsis_nn_dims* f, int32_t n, int32_t row, int32_t column, int32_t c, int average,
                      int32_t* taps) {
  int32_t sum = 0, most = -128;
  for (int32_t k = 0; k < f->h * f->w; ++k) {
    const ptrdiff_t at = pixel(in, n, row * p->stride.h - p->padding.h + k / f->w,
                               column * p->stride.w - p->padding.w + k % f->w);
    if (at < 0) continue;
    ++*taps;
    sum += x[at + c];
    most = x[at + c] > most ? x[at + c] : most;
  }
  return average ? sum : most;
}

static arm_cmsis_nn_status pool(const cmsis_nn_pool_params* p, const cmsis_nn_dims* in, const int8_t* x,
                                const cmsis_nn_dims* f, const cmsis_nn_dims* out, int8_t* y, int average) {
  if (in->n < 1 || in->c != out->c) return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t n = 0; n < in->n; ++n) {
    for (int32_t i = 0; i < out->h * out->w * out->c; ++i) {
      const int32_t at = i / out->c;
      int32_t taps = 0;
      int32_t value = pooled(p, in, x, f, n, at / out->w, at % out->w, i % out->c, average, &taps);
      if (taps == 0) return ARM_CMSIS_NN_ARG_ERROR;
      if (average) value = (value > 0 ? value + taps / 2 : value - taps / 2) / taps;
      *y++ = clamped(value, &p->activation);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params,
                                   const cmsis_nn_dims* input_dims, const int8_t* input,
                                   const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims,
                                   int8_t* output) {
  if (!scratch(ctx, STANDIN_CORE == DSP ? 4 * input_dims->c : 0)) return ARM_CMSIS_NN_ARG_ERROR;
  return pool(params, input_dims, input, filter_dims, output_dims, output, 1);
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params,
                                    const cmsis_nn_dims* input_dims, const int8_t* input,
                                    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims,
                                    int8_t* output) {
  (void)ctx;
  if (input == output) return ARM_CMSIS_NN_ARG_ERROR;
  return pool(params, input_dims, input, filter_dims, output_dims, output, 0);
}

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t* x, const int8_t* y, int32_t x_offset, int32_t x_mult,
                                           int32_t x_shift, int32_t y_offset, int32_t y_mult, int32_t y_shift,
                                           int32_t left_shift, int8_t* output, int32_t out_offset,
                                           int32_t out_mult, int32_t out_shift, int32_t out_min,
                                           int32_t out_max, int32_t block_size) {
  const cmsis_nn_activation range = {out_min, out_max};
  const int32_t one = (int32_t)1 << left_shift;
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t sum = requantized((x[i] + x_offset) * one, x_mult, x_shift) +
                        requantized((y[i] + y_offset) * one, y_mult, y_shift);
    output[i] = clamped((int64_t)requantized(sum, out_mult, out_shift) + out_offset, &range);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
