//@ piece gemm: tiles_of tiles_alone tile micro1 rows least
//@ for MatMul, Gemm: float32; a constant right operand is packed when the model is compiled
/* y[m][n] = a[m][k] * b[k][n]. b is packed in panels of 16 columns, panel[k][16], at compile time (b_packed)
 * or here, panel by panel. */
// Element strides of a and b are given, so either may be transposed. Of block_m rows all columns are made
// one after the other.
typedef struct K_gemm_shape {
  ptrdiff_t m, n, k, a_row, a_k, b_k, b_n, block_m, block_k;
  // 2, with half_panels: of 16 bits
  int b_packed;
} K_gemm_shape;

static void K_gemm_pack(
    const float* b, ptrdiff_t b_k, ptrdiff_t b_n, ptrdiff_t kn, ptrdiff_t cols, float* to) {
  for (ptrdiff_t k = 0; k < kn; ++k, to += K_LANES, b += b_k) {
    for (ptrdiff_t j = 0; j < cols; ++j) to[j] = b[j * b_n];
    for (ptrdiff_t j = cols; j < K_LANES; ++j) to[j] = 0.0f;
  }
}

// m rows of a panel.
static void K_gemm_panel(const K_tiles* q, ptrdiff_t m, const float* a, const float* b, const float* bias,
    float* y, ptrdiff_t cols) {
  const float none[K_LANES] = {0};
  float t[6 * K_LANES];
  const K_tiles sums = K_tiles_alone(q);
  for (ptrdiff_t i = 0; i < m;) {
    const ptrdiff_t left = m - i, rows = left >= 6 ? 6 : left >= 4 ? 4 : 1;
    const float* const from = a + i * q->a_row;
    float* const to = y + i * q->ldy;
    if (rows > 1 && cols == K_LANES) {
      (rows == 6 ? K_rows6 : K_rows4)(q, from, b, bias ? bias : none, to);
    } else {
      if (rows == 1) {
        K_micro1(q->k, from, q->a_k, b, t);
      } else {
        (rows == 6 ? K_rows6 : K_rows4)(&sums, from, b, none, t);
      }
      K_tile(t, rows, cols, bias, q->lo, q->hi, q->first, to, q->ldy);
    }
    i += rows;
  }
}

//@ when rows12
#if K_WIDE
// Rows of two panels, twelve at a time; returns how many there were.
static ptrdiff_t K_gemm_pair(const K_tiles* q, ptrdiff_t m, const float* a, const float* b, const float* c,
    const float* bias, float* y) {
  const float none[2 * K_LANES] = {0};
  ptrdiff_t i = 0;
  for (; i + 12 <= m; i += 12) K_rows12(q, a + i * q->a_row, b, c, bias ? bias : none, y + i * q->ldy);
  return i;
}
#endif
//@ end

static void K_gemm(const K_gemm_shape* p, const float* a, const float* b, const float* bias, float* y,
    float* panel, const K_epilogue* e, ptrdiff_t row, ptrdiff_t at) {
  for (ptrdiff_t m0 = 0; m0 < p->m; m0 += p->block_m) {
    const ptrdiff_t m = K_least(p->m - m0, p->block_m);
    for (ptrdiff_t n0 = 0, panels = 1; n0 < p->n; n0 += panels * K_LANES) {
      //@ when rows12
#if K_WIDE
      panels = m >= 12 && p->n - n0 >= 2 * K_LANES && p->b_packed != 2 ? 2 : 1;
#endif
      //@ end
      const ptrdiff_t cols = K_least(p->n - n0, K_LANES);
      for (ptrdiff_t k0 = 0; k0 < p->k || k0 == 0; k0 += p->block_k) {
        const ptrdiff_t kn = K_least(p->k - k0, p->block_k);
        const int last = k0 + kn == p->k;
        K_tiles q = K_tiles_of(e, kn, K_LANES, p->n, k0 == 0, last);
        q.a_row = p->a_row, q.a_k = p->a_k;
        const float* from[2] = {panel, panel};
        for (ptrdiff_t h = 0; h < panels; ++h) {
          const ptrdiff_t column = n0 + h * K_LANES;
          if (p->b_packed) {
            //@ unless half_panels
            from[h] = b + column * p->k + k0 * K_LANES;
            //@ end
            //@ when half_panels
            from[h] =
                K_panel_at(b, column * p->k + k0 * K_LANES, kn * K_LANES, p->b_packed == 2 ? panel : NULL);
            //@ end
          } else {
            float* const to = h ? panel + kn * K_LANES : panel;
            K_gemm_pack(b + k0 * p->b_k + column * p->b_n, p->b_k, p->b_n, kn, cols, to);
            from[h] = to;
          }
        }
        const float* const rows = a + m0 * p->a_row + k0 * p->a_k;
        const float* const column_bias = last && bias ? bias + n0 : NULL;
        float* const to = y + m0 * p->n + n0;
        ptrdiff_t done = 0;
        //@ when rows12
#if K_WIDE
        if (panels == 2) done = K_gemm_pair(&q, m, rows, from[0], from[1], column_bias, to);
#endif
        //@ end
        for (ptrdiff_t h = 0; h < panels; ++h) {
          K_gemm_panel(&q, m - done, rows + done * p->a_row, from[h],
              column_bias ? column_bias + h * K_LANES : NULL, to + done * p->n + h * K_LANES, cols);
        }
      }
    }
    for (ptrdiff_t i = m0; e->fn && i < m0 + m; ++i)
      e->fn(e->args, y + i * p->n, row + i, 0, at + i * p->n, p->n);
  }
}

//@ piece gemv_panels$form: tile micro1$form
//@ hole form suffix: what names of this form end in
//@ hole weight type: an element of b
//@ hole load function: K_VW weights as floats
//@ form form= weight=float load=K_LOAD
//@ form form=_half weight=uint16_t load=K_LOAD_HALF
/* t = x[k] times four panels. */
// Bound by the stream of b: several panels keep the multipliers busy.
static void K_gemv$form_panels(ptrdiff_t k, const float* x, const $weight* b, float* t) {
#if K_VW == 8
  K_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
  const $weight *b1 = b + k * K_LANES, *b2 = b1 + k * K_LANES, *b3 = b2 + k * K_LANES;
  for (ptrdiff_t i = 0; i < k; ++i) {
    const float v = x[i];
    s0 += v * $load(b + i * K_LANES);
    s1 += v * $load(b + i * K_LANES + K_VW);
    s2 += v * $load(b1 + i * K_LANES);
    s3 += v * $load(b1 + i * K_LANES + K_VW);
    s4 += v * $load(b2 + i * K_LANES);
    s5 += v * $load(b2 + i * K_LANES + K_VW);
    s6 += v * $load(b3 + i * K_LANES);
    s7 += v * $load(b3 + i * K_LANES + K_VW);
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
  for (ptrdiff_t j = 0; j < 4; ++j) K_micro1$form(k, x, 1, b + j * k * K_LANES, t + j * K_LANES);
#endif
}

//@ piece gemv$form: epilogue tile micro1$form
//@ for MatMul, Gemm: one row by a constant matrix
//@ hole form suffix: what names of this form end in
//@ hole weight type: an element of b
//@ hole load function: K_VW weights as floats
//@ form form= weight=float load=K_LOAD
//@ form form=_half weight=uint16_t load=K_LOAD_HALF
/* One panel: few sums for the multipliers to begin, so every fourth row of b has sums of its own. */
static void K_gemv$form_panel(ptrdiff_t k, const float* x, const $weight* b, float* t) {
#if K_VW == 8
  K_vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
  for (; k >= 4; k -= 4, x += 4, b += 4 * K_LANES) {
    s0 += x[0] * $load(b);
    s1 += x[0] * $load(b + 8);
    s2 += x[1] * $load(b + 16);
    s3 += x[1] * $load(b + 24);
    s4 += x[2] * $load(b + 32);
    s5 += x[2] * $load(b + 40);
    s6 += x[3] * $load(b + 48);
    s7 += x[3] * $load(b + 56);
  }
  for (; k > 0; --k, ++x, b += K_LANES) {
    s0 += x[0] * $load(b);
    s1 += x[0] * $load(b + 8);
  }
  K_STORE(t, (s0 + s2) + (s4 + s6));
  K_STORE(t + 8, (s1 + s3) + (s5 + s7));
#else
  K_micro1$form(k, x, 1, b, t);
#endif
}

/* y[n] = x[k] * b[k][n], b in panels of 16 columns. */
static void K_gemv$form(ptrdiff_t n, ptrdiff_t k, const float* x, const $weight* b, const float* bias,
    float* y, const K_epilogue* e) {
  float t[4 * K_LANES];
  for (ptrdiff_t n0 = 0; n0 < n;) {
    ptrdiff_t panels = 1;
    //@ when gemv_panels$form
    if (n - n0 > 3 * K_LANES) K_gemv$form_panels(k, x, b + n0 * k, t), panels = 4;
    //@ end
    if (panels == 1) K_gemv$form_panel(k, x, b + n0 * k, t);
    for (ptrdiff_t j = 0; j < panels; ++j, n0 += K_LANES) {
      K_tile(t + j * K_LANES, 1, n - n0 < K_LANES ? n - n0 : K_LANES, bias ? bias + n0 : NULL, e->lo, e->hi,
          1, y + n0, 0);
    }
  }
  if (e->fn) e->fn(e->args, y, 0, 0, 0, n);
}
