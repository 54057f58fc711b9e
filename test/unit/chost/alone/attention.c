/* kernels: attention
 * switches: rows12
 * Attention, against the formula in double. */
#define WITH_EPILOGUE
#include "draw.h"

/* A mask takes a score away now and then, rarely a row. */
static float* drawn_mask(ptrdiff_t n) {
  float* mask = numbers(n);
  for (ptrdiff_t i = 0; i < n; ++i)
    if (draw(0, 9) == 0) mask[i] = draw(0, 1) ? -INFINITY : -128.0f;
  return mask;
}

/* Softmax of n scores as weights of the values v[j][column]. */
static float weighted(const double* scores, ptrdiff_t n, const float* v, ptrdiff_t step, ptrdiff_t next) {
  double peak = -INFINITY, sum = 0, result = 0;
  for (ptrdiff_t j = 0; j < n; ++j) peak = scores[j] > peak ? scores[j] : peak;
  for (ptrdiff_t j = 0; j < n; ++j) {
    sum += exp(scores[j] - peak);
    result += exp(scores[j] - peak) * (double)v[j * step + next];
  }
  return (float)(result / sum);
}

static void test_attention(void) {
  const ptrdiff_t m = draw(1, 60), n = draw(1, 90), k = draw(1, 40), d = draw(1, 40), row = 3;
  const int turned = (int)draw(0, 1), masks = (int)draw(0, 2);
  const K_gemm_shape p = {.m = m,
                          .n = n,
                          .k = k,
                          .a_row = k + 2,
                          .a_k = 1,
                          .b_k = turned ? 1 : n,
                          .b_n = turned ? k : 1,
                          .block_k = draw(1, k),
                          .b_packed = 1};
  const K_gemm_shape r = {.m = m,
                          .n = d,
                          .k = n,
                          .a_row = n,
                          .a_k = 1,
                          .b_k = turned ? d : 1,
                          .b_n = turned ? 1 : n,
                          .block_k = draw(1, n),
                          .b_packed = 1};
  const K_attention_shape s = {.rows = draw(1, 2) * 12,
                               .mask_row = masks == 2 ? n : 0,
                               .mask_n = draw(0, 1),
                               .y_row = d + draw(0, 1) * draw(0, 3),
                               .scale = (float)draw(1, 2) / 2.0f};
  float *q = numbers(m * (k + 2)), *keys = numbers(k * n), *v = numbers(n * d), *mask = drawn_mask(m * n);
  float *y = nothing(m * s.y_row), *wanted = nothing(m * s.y_row), *bias = numbers(n);
  float* memory = nothing((n + 15) / 16 * 16 * k + (d + 15) / 16 * 16 * n + s.rows * (n + d));
  double* scores = (double*)malloc((size_t)n * sizeof(double));
  const K_epilogue e = drawn_epilogue();
  const int has_bias = (int)draw(0, 1);
  for (ptrdiff_t i = 0; i < m; ++i) {
    for (ptrdiff_t j = 0; j < n; ++j) {
      float sum = has_bias ? bias[j] : 0.0f;
      for (ptrdiff_t l = 0; l < k; ++l) sum += q[i * p.a_row + l] * keys[l * p.b_k + j * p.b_n];
      scores[j] = (double)finished(&e, sum, row + i, j, (row + i) * n + j);
      if (masks) scores[j] = scores[j] * (double)s.scale + (double)mask[i * s.mask_row + j * s.mask_n];
    }
    for (ptrdiff_t j = 0; j < d; ++j) wanted[i * s.y_row + j] = weighted(scores, n, v, r.b_k, j * r.b_n);
  }
  K_attention(&s, &p, &r, q, keys, v, has_bias ? bias : NULL, masks ? mask : NULL, y, memory, &e, row);
  compare("attention", y, wanted, m * s.y_row, 4e-6f);
  free(q), free(keys), free(v), free(mask), free(y), free(wanted), free(bias), free(memory), free(scores);
}

static void test_softmax(void) {
  const ptrdiff_t rows = draw(1, 3), n = draw(1, 70);
  const float far[] = {0.0f, 87.0f, 86.9f, 87.5f, 104.0f, 3e38f, INFINITY, NAN};
  float *x = numbers(rows * n), *wanted = nothing(rows * n);
  double* scores = (double*)malloc((size_t)n * sizeof(double));
  for (ptrdiff_t i = 0; i < rows * n; ++i)
    if (draw(0, 3) == 0) x[i] -= far[draw(0, draw(0, 9) ? 5 : 7)];
  for (ptrdiff_t i = 0; i < rows * n; ++i) {
    for (ptrdiff_t j = 0; j < n; ++j) scores[j] = (double)x[i / n * n + j];
    double peak = -INFINITY, sum = 0;
    for (ptrdiff_t j = 0; j < n; ++j) peak = scores[j] > peak ? scores[j] : peak;
    for (ptrdiff_t j = 0; j < n; ++j) sum += exp(scores[j] - peak);
    wanted[i] = (float)(exp(scores[i % n] - peak) / sum);
  }
  K_softmax_rows(rows, n, x);
  compare("softmax", x, wanted, rows * n, 4e-7f);
  free(x), free(wanted), free(scores);
}

int main(void) {
  for (int i = 0; i < 150; ++i) {
    test_attention();
    test_softmax();
  }
  return differences != 0;
}
