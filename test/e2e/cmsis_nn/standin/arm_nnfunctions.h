/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for CMSIS-NN in tests: structures and functions as ARM's header declares them, written anew in
 * plain loops. STANDIN_CORE says whose kernels are stood in for: 0 plain C, 1 DSP, 2 MVE. It asks for more
 * than the library does: the context's size must suffice for that core, and what a kernel would read beyond
 * its arrays is an error. */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H
#include <stdint.h>

typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1,
  ARM_CMSIS_NN_NO_IMPL_ERROR = -2,
  ARM_CMSIS_NN_FAILURE = -3
} arm_cmsis_nn_status;

typedef struct {
  void* buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;

typedef struct {
  int32_t min, max;
} cmsis_nn_activation;

typedef struct {
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t *multiplier, *shift;
  int32_t is_per_channel;
} cmsis_nn_quant_params;

typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  cmsis_nn_tile stride, padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* params,
                                            const cmsis_nn_per_channel_quant_params* quant,
                                            const cmsis_nn_dims* input_dims, const int8_t* input,
                                            const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                            const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                            const cmsis_nn_dims* output_dims, int8_t* output);
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* ctx,
                                                  const cmsis_nn_dw_conv_params* params,
                                                  const cmsis_nn_per_channel_quant_params* quant,
                                                  const cmsis_nn_dims* input_dims, const int8_t* input,
                                                  const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                                  const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                  const cmsis_nn_dims* output_dims, int8_t* output);
arm_cmsis_nn_status arm_fully_connected_wrapper_s8(const cmsis_nn_context* ctx,
                                                   const cmsis_nn_fc_params* params,
                                                   const cmsis_nn_quant_params* quant,
                                                   const cmsis_nn_dims* input_dims, const int8_t* input,
                                                   const cmsis_nn_dims* filter_dims, const int8_t* filter,
                                                   const cmsis_nn_dims* bias_dims, const int32_t* bias,
                                                   const cmsis_nn_dims* output_dims, int8_t* output);
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params,
                                   const cmsis_nn_dims* input_dims, const int8_t* input,
                                   const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims,
                                   int8_t* output);
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* params,
                                    const cmsis_nn_dims* input_dims, const int8_t* input,
                                    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims,
                                    int8_t* output);
void arm_softmax_s8(const int8_t* input, int32_t num_rows, int32_t row_size, int32_t mult, int32_t shift,
                    int32_t diff_min, int8_t* output);
arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t* x, const int8_t* y, int32_t x_offset, int32_t x_mult,
                                           int32_t x_shift, int32_t y_offset, int32_t y_mult, int32_t y_shift,
                                           int32_t left_shift, int8_t* output, int32_t out_offset,
                                           int32_t out_mult, int32_t out_shift, int32_t out_min,
                                           int32_t out_max, int32_t block_size);
#endif
