/* kernels: gemm gemv gemv_half row recurrent recurrent_half
 * switches: gemv_panels gemv_panels_half rows12
 * Products of matrices, and the sums of recurrent layers. */
#define WITH_EPILOGUE
#include "draw.h"

/* Panels of 16 columns: of weights w[k][n]. */
static float* packed_columns(const float* w, ptrdiff_t n, ptrdiff_t k) {
  float* to = numbers((n + 15) / 16 * 16 * k);
  for (ptrdiff_t n0 = 0, at = 0; n0 < n; n0 += 16)
    for (ptrdiff_t i = 0; i < k; ++i)
      for (ptrdiff_t j = n0; j < n0 + 16; ++j) to[at++] = j < n ? w[i * n + j] : 0.0f;
  return to;
}

/* Few bits are halves: sign, exponent, and the mantissa's upper bits. */
static uint16_t half_of(float v) {
  int exponent = 0;
  const float fraction = frexpf(fabsf(v), &exponent); /* [0.5, 1) */
  if (v == 0.0f) return 0;
  return (uint16_t)((v < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | (int)((fraction * 2 - 1) * 1024));
}

static uint16_t* halves_of(const float* x, ptrdiff_t n) {
  uint16_t* to = (uint16_t*)malloc((size_t)(n + 32) * sizeof(uint16_t));
  for (ptrdiff_t i = 0; i < n + 32; ++i) to[i] = i < n ? half_of(x[i]) : 0;
  return to;
}

static void test_gemm(void) {
  K_gemm_shape p = {.m = draw(1, 40), .n = draw(1, 70), .k = draw(1, 50), .b_packed = (int)draw(0, 1)};
  const int a_turned = (int)draw(0, 1), b_turned = (int)draw(0, 1);
  p.a_row = a_turned ? 1 : p.k, p.a_k = a_turned ? p.m : 1;
  p.b_k = b_turned ? 1 : p.n, p.b_n = b_turned ? p.k : 1;
  p.block_m = draw(0, 1) ? p.m : 6 * draw(1, 3), p.block_k = draw(1, p.k);
  float *a = numbers(p.m * p.k), *b = numbers(p.k * p.n), *plain = numbers(p.k * p.n);
  float *bias = numbers(p.n), *y = nothing(p.m * p.n), *wanted = nothing(p.m * p.n),
        *panel = nothing(32 * p.k);
  const K_epilogue e = drawn_epilogue();
  const int has_bias = (int)draw(0, 1);
  for (ptrdiff_t i = 0; i < p.k; ++i)
    for (ptrdiff_t j = 0; j < p.n; ++j) plain[i * p.n + j] = b[i * p.b_k + j * p.b_n];
  float* packed = packed_columns(plain, p.n, p.k);
  for (ptrdiff_t i = 0; i < p.m; ++i) {
    for (ptrdiff_t j = 0; j < p.n; ++j) {
      float sum = has_bias ? bias[j] : 0.0f;
      for (ptrdiff_t k = 0; k < p.k; ++k) sum += a[i * p.a_row + k * p.a_k] * plain[k * p.n + j];
      wanted[i * p.n + j] = finished(&e, sum, 3 + i, j, 5 + i * p.n + j);
    }
  }
  K_gemm(&p, a, p.b_packed ? packed : b, has_bias ? bias : NULL, y, panel, &e, 3, 5);
  compare("gemm", y, wanted, p.m * p.n, 0.0f);
  free(a), free(b), free(plain), free(bias), free(y), free(wanted), free(panel), free(packed);
}

static void test_gemv(void) {
  const ptrdiff_t n = draw(1, 150), k = draw(1, 40);
  float *x = numbers(k), *w = numbers(k * n), *bias = numbers(n), *y = nothing(n), *wanted = nothing(n);
  float* packed = packed_columns(w, n, k);
  uint16_t* halves = halves_of(packed, (n + 15) / 16 * 16 * k);
  const K_epilogue e = drawn_epilogue();
  const int has_bias = (int)draw(0, 1);
  for (ptrdiff_t j = 0; j < n; ++j) {
    float sum = has_bias ? bias[j] : 0.0f;
    for (ptrdiff_t i = 0; i < k; ++i) sum += x[i] * w[i * n + j];
    wanted[j] = finished(&e, sum, 0, j, j);
  }
  K_gemv(n, k, x, packed, has_bias ? bias : NULL, y, &e);
  compare("gemv", y, wanted, n, 0.0f);
  K_gemv_half(n, k, x, halves, has_bias ? bias : NULL, y, &e);
  compare("gemv_half", y, wanted, n, 0.0f);
  free(x), free(w), free(bias), free(y), free(wanted), free(packed), free(halves);
}

/* Rows of b, or its columns, are contiguous; others lie between them, as in a part of a larger matrix. */
static void test_row(void) {
  const ptrdiff_t n = draw(1, 70), k = draw(0, 50), columns = draw(0, 1), gap = draw(0, 3);
  const ptrdiff_t b_k = columns ? 1 : n + gap, b_n = columns ? k + gap : 1;
  float *x = numbers(k + 1), *b = numbers((k + 1) * (n + 1) + (n + k) * (gap + 1)), *bias = numbers(n);
  float *y = nothing(n), *wanted = nothing(n);
  const K_epilogue e = drawn_epilogue();
  const int has_bias = (int)draw(0, 1);
  for (ptrdiff_t j = 0; j < n; ++j) {
    float sum = has_bias ? bias[j] : 0.0f;
    for (ptrdiff_t i = 0; i < k; ++i) sum += x[i] * b[i * b_k + j * b_n];
    wanted[j] = finished(&e, sum, 3, j, 5 + j);
  }
  K_row(n, k, x, b, b_k, b_n, has_bias ? bias : NULL, y, &e, 3, 5);
  compare("row", y, wanted, n, 0.0f);
  free(x), free(b), free(bias), free(y), free(wanted);
}

/* w[k][n] in panels of 64 columns, behind them of 16. */
static float* packed_panels(const float* w, ptrdiff_t n, ptrdiff_t k) {
  float* to = numbers(n * k);
  for (ptrdiff_t n0 = 0, at = 0; n0 < n;) {
    const ptrdiff_t width = n - n0 < 64 ? 16 : 64;
    for (ptrdiff_t i = 0; i < k; ++i)
      for (ptrdiff_t j = 0; j < width; ++j) to[at++] = w[i * n + n0 + j];
    n0 += width;
  }
  return to;
}

static void test_recurrent(void) {
  const ptrdiff_t rows = draw(1, 9), n = 16 * draw(1, 11), k = draw(1, 3) < 3 ? draw(1, 40) : draw(120, 270);
  const ptrdiff_t step = k + draw(0, 3), next = draw(0, 1) * n;
  float *x = numbers(rows * step), *w = numbers(k * n), *init = numbers(rows * n);
  float *y = nothing(rows * n), *wanted = nothing(rows * n), *packed = packed_panels(w, n, k);
  uint16_t* halves = halves_of(packed, n * k);
  for (ptrdiff_t r = 0; r < rows; ++r) {
    for (ptrdiff_t j = 0; j < n; ++j) {
      float sum = init[r * next + j];
      for (ptrdiff_t i = 0; i < k; ++i) sum += x[r * step + i] * w[i * n + j];
      wanted[r * n + j] = sum;
    }
  }
  K_recurrent(rows, n, k, x, step, packed, init, next, y);
  compare("recurrent", y, wanted, rows * n, 0.0f);
  K_recurrent_half(rows, n, k, x, step, halves, init, next, y);
  compare("recurrent_half", y, wanted, rows * n, 0.0f);
  for (int back = 0; back < 2; ++back) {
    K_recurrent_step(back, n, k, x, packed, init, y);
    compare("recurrent_step", y, wanted, n, 0.0f);
    K_recurrent_half_step(back, n, k, x, halves, init, y);
    compare("recurrent_half_step", y, wanted, n, 0.0f);
  }
  free(x), free(w), free(init), free(y), free(wanted), free(packed), free(halves);
}

int main(void) {
  for (int i = 0; i < 150; ++i) {
    test_gemm();
    test_gemv();
    test_row();
    if (i % 3 == 0) test_recurrent();
  }
  return differences != 0;
}
