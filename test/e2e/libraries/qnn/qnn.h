/* Kernels for int8 networks in the manner of CMSIS-NN: channels last, accumulators of 32 bits, results scaled
 * by a multiplier of 31 bits and a shift for each channel. Written from Jacob et al., "Quantization and
 * Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference", 2018. All return 0. */
#include <stdint.h>

typedef struct qnn_dims {
  int32_t n, h, w, c;
} qnn_dims;

typedef struct qnn_conv_params {
  int32_t input_offset, output_offset;
  const int32_t *strides, *dilations, *pads;
  int32_t least, most;
} qnn_conv_params;

typedef struct qnn_fc_params {
  int32_t input_offset, output_offset, least, most;
} qnn_fc_params;

int qnn_convolve_s8(const qnn_conv_params* params, const int32_t* multipliers, const int32_t* shifts,
                    const qnn_dims* in, const int8_t* x, const qnn_dims* filter, const int8_t* weights,
                    const int32_t* bias, const qnn_dims* out, int8_t* y);
/* weights: [1, h, w, channels] */
int qnn_depthwise_s8(const qnn_conv_params* params, const int32_t* multipliers, const int32_t* shifts,
                     const qnn_dims* in, const int8_t* x, const qnn_dims* filter, const int8_t* weights,
                     const int32_t* bias, const qnn_dims* out, int8_t* y);
int qnn_fully_connected_s8(const qnn_fc_params* params, const int32_t* multipliers, const int32_t* shifts,
                           int32_t rows, int32_t in, int32_t out, const int8_t* x, const int8_t* weights,
                           const int32_t* bias, int8_t* y);
