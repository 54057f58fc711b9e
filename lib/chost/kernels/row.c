//@ piece row: tile epilogue
//@ for MatMul, Gemm: one row by a matrix that is no constant
/* y[n] = a[k] * b[k][n] of a matrix b that is read where it lies, as each element is read once: its rows are
 * contiguous (b_n is 1), or its columns (b_k is 1). */
// Four rows at a time: sums are loaded and stored once for them.
static void K_row_by_rows(ptrdiff_t n, ptrdiff_t k, const float* a, const float* b, ptrdiff_t b_k, float* y) {
  // Columns in vectors.
  ptrdiff_t whole = 0;
#if K_VW
  whole = n - n % K_VW;
#endif
  for (ptrdiff_t j = 0; j < n; ++j) y[j] = 0.0f;
  for (; k >= 4; k -= 4, a += 4, b += 4 * b_k) {
    const float *const b1 = b + b_k, *const b2 = b1 + b_k, *const b3 = b2 + b_k;
#if K_VW
    for (ptrdiff_t j = 0; j < whole; j += K_VW) {
      const K_vec s = a[0] * K_LOAD(b + j) + a[1] * K_LOAD(b1 + j),
                  u = a[2] * K_LOAD(b2 + j) + a[3] * K_LOAD(b3 + j);
      K_STORE(y + j, K_LOAD(y + j) + (s + u));
    }
#endif
    for (ptrdiff_t j = whole; j < n; ++j)
      y[j] += (a[0] * b[j] + a[1] * b1[j]) + (a[2] * b2[j] + a[3] * b3[j]);
  }
  for (; k > 0; --k, ++a, b += b_k)
    for (ptrdiff_t j = 0; j < n; ++j) y[j] += a[0] * b[j];
}

/* The sum of a[k] * b[k]. */
static float K_row_dot(ptrdiff_t k, const float* a, const float* b) {
  float sum = 0.0f;
#if K_VW
  float lanes[K_VW];
  K_vec s = {0}, u = {0};
  for (; k >= 2 * K_VW; k -= 2 * K_VW, a += 2 * K_VW, b += 2 * K_VW) {
    s += K_LOAD(a) * K_LOAD(b);
    u += K_LOAD(a + K_VW) * K_LOAD(b + K_VW);
  }
  K_STORE(lanes, s + u);
  for (ptrdiff_t i = 0; i < K_VW / 2; ++i) sum += lanes[i] + lanes[i + K_VW / 2];
#endif
  for (; k > 0; --k, ++a, ++b) sum += a[0] * b[0];
  return sum;
}

// Four columns at a time: a is loaded once for them, and their sums do not wait for each other.
static void K_row_by_columns(
    ptrdiff_t n, ptrdiff_t k, const float* a, const float* b, ptrdiff_t b_n, float* y) {
  const ptrdiff_t fours = K_VW ? n - n % 4 : 0;
#if K_VW
  for (ptrdiff_t j = 0; j < fours; j += 4) {
    const float *const b0 = b + j * b_n, *const b1 = b0 + b_n, *const b2 = b1 + b_n, *const b3 = b2 + b_n;
    K_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    float lanes[4 * K_VW];
    ptrdiff_t i = 0;
    for (; i + K_VW <= k; i += K_VW) {
      const K_vec v = K_LOAD(a + i);
      s0 += v * K_LOAD(b0 + i);
      s1 += v * K_LOAD(b1 + i);
      s2 += v * K_LOAD(b2 + i);
      s3 += v * K_LOAD(b3 + i);
    }
    K_STORE(lanes, s0), K_STORE(lanes + K_VW, s1), K_STORE(lanes + 2 * K_VW, s2),
        K_STORE(lanes + 3 * K_VW, s3);
    for (ptrdiff_t c = 0; c < 4; ++c) {
      const float* const l = lanes + c * K_VW;
      float sum = (l[0] + l[2]) + (l[1] + l[3]);
      for (ptrdiff_t h = 4; h < K_VW; h += 4) sum += (l[h] + l[h + 2]) + (l[h + 1] + l[h + 3]);
      for (ptrdiff_t r = i; r < k; ++r) sum += a[r] * b0[c * b_n + r];
      y[j + c] = sum;
    }
  }
#endif
  for (ptrdiff_t j = fours; j < n; ++j) y[j] = K_row_dot(k, a, b + j * b_n);
}

static void K_row(ptrdiff_t n, ptrdiff_t k, const float* a, const float* b, ptrdiff_t b_k, ptrdiff_t b_n,
    const float* bias, float* y, const K_epilogue* e, ptrdiff_t row, ptrdiff_t at) {
  if (b_k == 1) {
    K_row_by_columns(n, k, a, b, b_n, y);
  } else {
    K_row_by_rows(n, k, a, b, b_k, y);
  }
  K_tile(y, 1, n, bias, e->lo, e->hi, 1, y, 0);
  if (e->fn) e->fn(e->args, y, row, 0, at, n);
}
