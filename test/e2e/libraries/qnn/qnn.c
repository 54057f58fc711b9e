#include "qnn.h"

#include <stddef.h>

/* sum * multiplier * 2^(shift - 31), rounded to nearest. */
static int32_t scaled(int32_t sum, int32_t multiplier, int32_t shift) {
  const int64_t product = (int64_t)sum * multiplier;
  const int right = 31 - shift;
  return (int32_t)((product + ((int64_t)1 << (right - 1))) >> right);
}

static int8_t result(int32_t sum, int32_t multiplier, int32_t shift, int32_t offset, int32_t least,
                     int32_t most) {
  const int32_t value = scaled(sum, multiplier, shift) + offset;
  return (int8_t)(value < least ? least : value > most ? most : value);
}

/* Of an element that lies in the padding: -1. */
static ptrdiff_t element(const qnn_dims* in, int32_t n, int32_t y, int32_t x) {
  if (y < 0 || y >= in->h || x < 0 || x >= in->w) return -1;
  return ((ptrdiff_t)(n * in->h + y) * in->w + x) * in->c;
}

static int32_t sum_at(const qnn_conv_params* p, const qnn_dims* in, const int8_t* x, const qnn_dims* filter,
                      const int8_t* weights, int32_t n, int32_t row, int32_t column, int32_t channel,
                      int depthwise) {
  int32_t sum = 0;
  for (int32_t i = 0; i < filter->h; ++i) {
    for (int32_t j = 0; j < filter->w; ++j) {
      const ptrdiff_t at = element(in, n, row * p->strides[0] - p->pads[0] + i * p->dilations[0],
                                   column * p->strides[1] - p->pads[1] + j * p->dilations[1]);
      if (at < 0) continue;
      if (depthwise) {
        sum += (x[at + channel] + p->input_offset) * weights[(i * filter->w + j) * filter->c + channel];
        continue;
      }
      const int8_t* w = weights + ((ptrdiff_t)(channel * filter->h + i) * filter->w + j) * filter->c;
      for (int32_t k = 0; k < filter->c; ++k) sum += (x[at + k] + p->input_offset) * w[k];
    }
  }
  return sum;
}

static int convolve(const qnn_conv_params* p, const int32_t* multipliers, const int32_t* shifts,
                    const qnn_dims* in, const int8_t* x, const qnn_dims* filter, const int8_t* weights,
                    const int32_t* bias, const qnn_dims* out, int8_t* y, int depthwise) {
  for (int32_t n = 0; n < out->n; ++n) {
    for (int32_t row = 0; row < out->h; ++row) {
      for (int32_t column = 0; column < out->w; ++column) {
        for (int32_t c = 0; c < out->c; ++c) {
          const int32_t sum =
              sum_at(p, in, x, filter, weights, n, row, column, c, depthwise) + (bias ? bias[c] : 0);
          *y++ = result(sum, multipliers[c], shifts[c], p->output_offset, p->least, p->most);
        }
      }
    }
  }
  return 0;
}

int qnn_convolve_s8(const qnn_conv_params* params, const int32_t* multipliers, const int32_t* shifts,
                    const qnn_dims* in, const int8_t* x, const qnn_dims* filter, const int8_t* weights,
                    const int32_t* bias, const qnn_dims* out, int8_t* y) {
  return convolve(params, multipliers, shifts, in, x, filter, weights, bias, out, y, 0);
}

int qnn_depthwise_s8(const qnn_conv_params* params, const int32_t* multipliers, const int32_t* shifts,
                     const qnn_dims* in, const int8_t* x, const qnn_dims* filter, const int8_t* weights,
                     const int32_t* bias, const qnn_dims* out, int8_t* y) {
  return convolve(params, multipliers, shifts, in, x, filter, weights, bias, out, y, 1);
}

int qnn_fully_connected_s8(const qnn_fc_params* params, const int32_t* multipliers, const int32_t* shifts,
                           int32_t rows, int32_t in, int32_t out, const int8_t* x, const int8_t* weights,
                           const int32_t* bias, int8_t* y) {
  for (int32_t r = 0; r < rows; ++r) {
    for (int32_t o = 0; o < out; ++o) {
      int32_t sum = bias ? bias[o] : 0;
      for (int32_t i = 0; i < in; ++i) sum += (x[r * in + i] + params->input_offset) * weights[o * in + i];
      *y++ = result(sum, multipliers[o], shifts[o], params->output_offset, params->least, params->most);
    }
  }
  return 0;
}
