//@ piece softmax_rows: exp_below
/* Softmax of each of some rows of n floats, in place. */
// Sixteen maxima and sums side by side, as a single one cannot be made of vectors.
static float K_softmax_peak(ptrdiff_t n, const float* x) {
  const ptrdiff_t whole = n - n % K_LANES;
  float lanes[K_LANES], peak = -INFINITY;
  for (ptrdiff_t l = 0; l < K_LANES; ++l) lanes[l] = -INFINITY;
  for (ptrdiff_t i = 0; i < whole; i += K_LANES)
    for (ptrdiff_t l = 0; l < K_LANES; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
  for (ptrdiff_t l = 0; l < K_LANES; ++l) peak = lanes[l] > peak ? lanes[l] : peak;
  for (ptrdiff_t i = whole; i < n; ++i) peak = x[i] > peak ? x[i] : peak;
  return peak;
}

/* Replaces x by e^(x - peak) and returns the sum. */
static float K_softmax_powers(ptrdiff_t n, float* x, float peak) {
  const ptrdiff_t whole = n - n % K_LANES;
  float lanes[K_LANES] = {0}, sum = 0.0f;
  for (ptrdiff_t i = 0; i < whole; i += K_LANES) {
    for (ptrdiff_t l = 0; l < K_LANES; ++l) {
      const float v = K_exp_below(x[i + l] - peak);
      x[i + l] = v;
      lanes[l] += v;
    }
  }
  for (ptrdiff_t i = whole; i < n; ++i) sum += x[i] = K_exp_below(x[i] - peak);
  for (ptrdiff_t l = 0; l < K_LANES / 2; ++l) sum += lanes[l] + lanes[l + K_LANES / 2];
  return sum;
}

static void K_softmax_rows(ptrdiff_t rows, ptrdiff_t n, float* x) {
  for (; rows > 0; --rows, x += n) {
    const float sum = K_softmax_powers(n, x, K_softmax_peak(n, x));
    for (ptrdiff_t i = 0; i < n; ++i) x[i] /= sum;
  }
}

//@ piece attention: gemm softmax_rows
//@ for MatMul, Softmax, MatMul, Attention: some rows of scores at a time
/* y = softmax(scale * q * k + mask) * v, or without both. k and v are packed once, as each is read for all
 * rows; the scores of `rows` rows lie behind them in `memory`, where a cache holds them. */
// What is done to scores in front of the mask is the epilogue of their product.
typedef struct K_attention_shape {
  // strides of the mask and of rows of y, in elements
  ptrdiff_t rows, mask_row, mask_n, y_row;
  float scale;
} K_attention_shape;

static void K_attention_pack(const K_gemm_shape* p, const float* b, float* to) {
  for (ptrdiff_t j = 0; j < p->n; j += K_LANES)
    K_gemm_pack(b + j * p->b_n, p->b_k, p->b_n, p->k, K_least(p->n - j, K_LANES), to + j * p->k);
}

static void K_attention_mask(ptrdiff_t n, float scale, const float* mask, ptrdiff_t step, float* x) {
  if (step == 1) {
    for (ptrdiff_t j = 0; j < n; ++j) x[j] = scale * x[j] + mask[j];
  } else {
    for (ptrdiff_t j = 0; j < n; ++j) x[j] = scale * x[j] + mask[j * step];
  }
}

static void K_attention(const K_attention_shape* s, const K_gemm_shape* scores, const K_gemm_shape* values,
    const float* q, const float* k, const float* v, const float* bias, const float* mask, float* y,
    float* memory, const K_epilogue* e, ptrdiff_t row) {
  const K_epilogue plain = {.lo = -INFINITY, .hi = INFINITY};
  const ptrdiff_t n = scores->n;
  float *const keys = memory, *const of_values = keys + (n + K_LANES - 1) / K_LANES * K_LANES * scores->k;
  float* const x = of_values + (values->n + K_LANES - 1) / K_LANES * K_LANES * n;
  K_gemm_shape p = *scores, r = *values;
  K_attention_pack(scores, k, keys);
  K_attention_pack(values, v, of_values);
  for (ptrdiff_t m = 0; m < scores->m; m += s->rows) {
    p.m = p.block_m = r.m = r.block_m = K_least(scores->m - m, s->rows);
    K_gemm(&p, q + m * p.a_row, keys, bias, x, NULL, e, row + m, (row + m) * n);
    for (ptrdiff_t i = 0; mask && i < p.m; ++i)
      K_attention_mask(n, s->scale, mask + (m + i) * s->mask_row, s->mask_n, x + i * n);
    K_softmax_rows(p.m, n, x);
    // Rows of y lie side by side, or first behind the scores.
    float* const to = s->y_row == r.n ? y + m * r.n : x + s->rows * n;
    K_gemm(&r, x, of_values, NULL, to, NULL, &plain, 0, 0);
    for (ptrdiff_t i = 0; s->y_row != r.n && i < r.m; ++i)
      memcpy(y + (m + i) * s->y_row, to + i * r.n, (size_t)r.n * sizeof(float));
  }
}
