/* Images lie with channels last. */
#include <stddef.h>
#include <stdint.h>

#define NN_ZERO 0.0f

typedef struct nn_image {
  int32_t n, h, w, c;
} nn_image;

typedef struct nn_window {
  const int32_t *strides, *dilations, *pads;
  int32_t relu;
} nn_window;

/* 0, or 7 when $NN_FAIL says so. `scratch`: 4 bytes for each channel of the result. */
int nn_conv(const nn_window* window, const nn_image* in, const float* x, const nn_image* filter,
            const float* w, const float* bias, const nn_image* out, float* y, void* scratch);
void nn_max_pool(const nn_image* in, const float* x, const int32_t* kernel, const int32_t* strides,
                 const nn_image* out, float* y);
/* tanh of x, when all other arguments are what the rule says: 3. */
int64_t nn_scaled(float* x, float* y, size_t count, const char* what, const float* factors,
                  const void* nothing, double number);
