//@ piece gemm: epilogue tile micro6 micro4 micro1
/* y[m][n] = a[m][k] * b[k][n]. b is packed in panels of 16 columns, panel[k][16], at compile time (b_packed)
 * or here, panel by panel. Element strides of a and b are given, so either may be transposed. */
typedef struct K_gemm_shape {
  ptrdiff_t m, n, k, a_row, a_k, b_k, b_n, block_k;
  int b_packed;
} K_gemm_shape;

static void K_gemm_pack(const float* b, ptrdiff_t b_k, ptrdiff_t b_n, ptrdiff_t kn, ptrdiff_t cols,
                        float* to) {
  for (ptrdiff_t k = 0; k < kn; ++k, to += K_LANES, b += b_k) {
    for (ptrdiff_t j = 0; j < cols; ++j) to[j] = b[j * b_n];
    for (ptrdiff_t j = cols; j < K_LANES; ++j) to[j] = 0.0f;
  }
}

static void K_gemm_panel(const K_gemm_shape* p, const float* a, ptrdiff_t kn, const float* b,
                         const float* bias, float lo, float hi, float* y, ptrdiff_t cols, int first) {
  float t[6 * K_LANES];
  for (ptrdiff_t i = 0; i < p->m;) {
    const ptrdiff_t left = p->m - i, rows = left >= 6 ? 6 : left >= 4 ? 4 : 1;
    if (rows == 6) {
      K_micro6(kn, a + i * p->a_row, p->a_row, p->a_k, b, K_LANES, t);
    } else if (rows == 4) {
      K_micro4(kn, a + i * p->a_row, p->a_row, p->a_k, b, K_LANES, t);
    } else {
      K_micro1(kn, a + i * p->a_row, 0, p->a_k, b, K_LANES, t);
    }
    K_tile(t, rows, cols, y + i * p->n, p->n, NULL, bias, lo, hi, first);
    i += rows;
  }
}

static void K_gemm(const K_gemm_shape* p, const float* a, const float* b, const float* bias, float* y,
                   float* panel, const K_epilogue* e, ptrdiff_t row, ptrdiff_t at) {
  for (ptrdiff_t n0 = 0; n0 < p->n; n0 += K_LANES) {
    const ptrdiff_t cols = p->n - n0 < K_LANES ? p->n - n0 : K_LANES;
    for (ptrdiff_t k0 = 0; k0 < p->k || k0 == 0; k0 += p->block_k) {
      const ptrdiff_t kn = p->k - k0 < p->block_k ? p->k - k0 : p->block_k;
      const int last = k0 + kn == p->k;
      const float* from = panel;
      if (p->b_packed) {
        from = b + n0 * p->k + k0 * K_LANES;
      } else {
        K_gemm_pack(b + k0 * p->b_k + n0 * p->b_n, p->b_k, p->b_n, kn, cols, panel);
      }
      K_gemm_panel(p, a + k0 * p->a_k, kn, from, last && bias ? bias + n0 : NULL, last ? e->lo : -INFINITY,
                   last ? e->hi : INFINITY, y + n0, cols, k0 == 0);
    }
  }
  for (ptrdiff_t i = 0; e->fn && i < p->m; ++i) e->fn(e->args, y + i * p->n, row + i, 0, at + i * p->n, p->n);
}

//@ piece gemv: epilogue tile micro1
/* y[n] = x[k] * b[k][n], b in panels of 16 columns. Bound by the stream of b: several panels keep the
 * multipliers busy. */
static void K_gemv_panels(ptrdiff_t k, const float* x, const float* b, float* t) {
#if K_VW == 8
  K_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
  const float *b1 = b + k * K_LANES, *b2 = b1 + k * K_LANES, *b3 = b2 + k * K_LANES;
  for (ptrdiff_t i = 0; i < k; ++i) {
    const float v = x[i];
    s0 += v * K_LOAD(b + i * K_LANES);
    s1 += v * K_LOAD(b + i * K_LANES + K_VW);
    s2 += v * K_LOAD(b1 + i * K_LANES);
    s3 += v * K_LOAD(b1 + i * K_LANES + K_VW);
    s4 += v * K_LOAD(b2 + i * K_LANES);
    s5 += v * K_LOAD(b2 + i * K_LANES + K_VW);
    s6 += v * K_LOAD(b3 + i * K_LANES);
    s7 += v * K_LOAD(b3 + i * K_LANES + K_VW);
  }
  K_STORE(t, s0);
  K_STORE(t + 8, s1);
  K_STORE(t + 16, s2);
  K_STORE(t + 24, s3);
  K_STORE(t + 32, s4);
  K_STORE(t + 40, s5);
  K_STORE(t + 48, s6);
  K_STORE(t + 56, s7);
#else
  for (ptrdiff_t j = 0; j < 4; ++j) K_micro1(k, x, 0, 1, b + j * k * K_LANES, K_LANES, t + j * K_LANES);
#endif
}

/* One panel: few sums for the multipliers to begin, so every fourth row of b has sums of its own. */
static void K_gemv_panel(ptrdiff_t k, const float* x, const float* b, float* t) {
#if K_VW == 8
  K_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
  for (; k >= 4; k -= 4, x += 4, b += 4 * K_LANES) {
    s0 += x[0] * K_LOAD(b);
    s1 += x[0] * K_LOAD(b + 8);
    s2 += x[1] * K_LOAD(b + 16);
    s3 += x[1] * K_LOAD(b + 24);
    s4 += x[2] * K_LOAD(b + 32);
    s5 += x[2] * K_LOAD(b + 40);
    s6 += x[3] * K_LOAD(b + 48);
    s7 += x[3] * K_LOAD(b + 56);
  }
  for (; k > 0; --k, ++x, b += K_LANES) {
    s0 += x[0] * K_LOAD(b);
    s1 += x[0] * K_LOAD(b + 8);
  }
  K_STORE(t, (s0 + s2) + (s4 + s6));
  K_STORE(t + 8, (s1 + s3) + (s5 + s7));
#else
  K_micro1(k, x, 0, 1, b, K_LANES, t);
#endif
}

static void K_gemv(ptrdiff_t n, ptrdiff_t k, const float* x, const float* b, const float* bias, float* y,
                   const K_epilogue* e) {
  float t[4 * K_LANES];
  for (ptrdiff_t n0 = 0; n0 < n;) {
    const ptrdiff_t panels = n - n0 > 3 * K_LANES ? 4 : 1;
    if (panels == 4) {
      K_gemv_panels(k, x, b + n0 * k, t);
    } else {
      K_gemv_panel(k, x, b + n0 * k, t);
    }
    for (ptrdiff_t j = 0; j < panels; ++j, n0 += K_LANES) {
      K_tile(t + j * K_LANES, 1, n - n0 < K_LANES ? n - n0 : K_LANES, y + n0, 0, NULL,
             bias ? bias + n0 : NULL, e->lo, e->hi, 1);
    }
  }
  if (e->fn) e->fn(e->args, y, 0, 0, 0, n);
}
