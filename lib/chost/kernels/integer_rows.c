//@ piece integer_rows: requantize dot irows41 irows14 irows11
/* Few pixels: lanes are rows of weights, 16 a tile, w[tile][k][16] quads; x[i * x_k + p * x_p] are quads of n
 * pixels. */
typedef struct K_rows_shape {
  ptrdiff_t m, depth, x_k, x_p, y_row, y_p;
} K_rows_shape;

// One tile of rows for one pixel; `sum`: of the bytes of x. Scales and biases are there for whole tiles.
static void K_rows_out(const K_rows_shape* p, const K_scales* e, ptrdiff_t m, ptrdiff_t row, uint32_t* t,
    uint32_t sum, void* y, ptrdiff_t at) {
  const ptrdiff_t rows = p->m - row < K_QROWS ? p->m - row : K_QROWS;
  uint8_t z[K_QROWS];
  m += row;
  at += row * p->y_row;
  for (ptrdiff_t j = 0; e->centre && j < K_QROWS; ++j) t[j] -= e->centre[m + j] * sum;
  if (!e->scale) {
    for (ptrdiff_t j = 0; j < rows; ++j) ((uint32_t*)y)[at + j * p->y_row] = t[j] + e->bias[m + j];
    return;
  }
  K_rounds(t, K_QROWS, e->bias + m, e->scale + m, 1, e, z);
  if (rows == K_QROWS && p->y_row == 1) {
    memcpy((uint8_t*)y + at, z, K_QROWS);
  } else {
    for (ptrdiff_t j = 0; j < rows; ++j) ((uint8_t*)y)[at + j * p->y_row] = z[j];
  }
}

static uint32_t K_rows_sum(const K_rows_shape* p, const uint32_t* x) {
  uint32_t s = 0;
  for (ptrdiff_t i = 0; i < p->depth; ++i) {
    const uint32_t v = x[i * p->x_k];
    s += (v & 255u) + (v >> 8 & 255u) + (v >> 16 & 255u) + (v >> 24);
  }
  return s;
}

// As many tiles or pixels at once as keep the multipliers busy.
static void K_integer_rows(const K_rows_shape* p, const K_scales* e, ptrdiff_t m, const uint32_t* w,
    const uint32_t* x, ptrdiff_t n, void* y, ptrdiff_t at) {
  const ptrdiff_t size = p->depth * K_QROWS;
  uint32_t t[4 * K_QROWS];
  for (ptrdiff_t q = 0; q < n;) {
    const ptrdiff_t pixels = n - q >= 4 ? 4 : 1;
    uint32_t sums[4] = {0};
    for (ptrdiff_t i = 0; e->centre && i < pixels; ++i) sums[i] = K_rows_sum(p, x + (q + i) * p->x_p);
    for (ptrdiff_t row = 0; row < p->m;) {
      const ptrdiff_t tiles = pixels == 1 && p->m - row > 3 * K_QROWS ? 4 : 1;
      const uint32_t *a = w + row * p->depth, *b = x + q * p->x_p;
      if (pixels == 4) {
        K_irows14(p->depth, a, size, b, p->x_k, p->x_p, t);
      } else if (tiles == 4) {
        K_irows41(p->depth, a, size, b, p->x_k, p->x_p, t);
      } else {
        K_irows11(p->depth, a, size, b, p->x_k, p->x_p, t);
      }
      for (ptrdiff_t i = 0; i < tiles; ++i)
        for (ptrdiff_t j = 0; j < pixels; ++j)
          K_rows_out(p, e, m, row + i * K_QROWS, t + (i + j) * K_QROWS, sums[j], y, at + (q + j) * p->y_p);
      row += tiles * K_QROWS;
    }
    q += pixels;
  }
}

//@ piece integer_few: integer_gather integer_rows
//@ for QLinearConv, ConvInteger: constant weights, few output pixels
/* A convolution with few output pixels: those of an image are one block. */
static void K_integer_few(
    const K_integer_shape* p, const void* x, const void* w, void* y, void* scratch, const K_scales* e) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  const ptrdiff_t whole = (p->m + K_QROWS - 1) / K_QROWS * K_QROWS;
  const K_rows_shape rows = {
      .m = p->m, .depth = p->depth, .x_k = p->ldb, .x_p = 1, .y_row = pixels, .y_p = 1};
  const uint8_t* from = (const uint8_t*)x;
  uint32_t* const b = (uint32_t*)scratch;
  for (ptrdiff_t i = 0; i < p->batch * p->groups; ++i, from += p->channels * p->h * p->w) {
    const ptrdiff_t g = i % p->groups;
    K_integer_gather(p, from, 0, pixels, b, (uint8_t*)(b + p->depth * p->ldb));
    K_integer_rows(
        &rows, e, g * whole, (const uint32_t*)w + g * whole * p->depth, b, pixels, y, i * p->m * pixels);
  }
}

//@ piece integer_matrix: integer_rows
//@ for QLinearMatMul, MatMulInteger, 1x1 QLinearConv of one pixel: a constant matrix
/* y[n][m] = x[n][k] times the transposed weights: rows of x are what pixels are above. */
static void K_integer_matrix(ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, uint32_t flip, const void* x,
    const void* w, void* y, void* scratch, const K_scales* e) {
  const ptrdiff_t depth = (k + 3) / 4;
  const K_rows_shape rows = {.m = m, .depth = depth, .x_k = 1, .x_p = depth, .y_row = 1, .y_p = m};
  const uint8_t* from = (const uint8_t*)x;
  uint32_t* const b = (uint32_t*)scratch;
  for (ptrdiff_t i = 0; i < n; i += 4) {
    const ptrdiff_t count = n - i < 4 ? n - i : 4;
    for (ptrdiff_t j = 0; j < count; ++j) {
      uint32_t* const to = b + j * depth;
      to[depth - 1] = 0;
      memcpy(to, from + (i + j) * k, (size_t)k);
      for (ptrdiff_t q = 0; q < depth; ++q) to[q] ^= flip;
    }
    K_integer_rows(&rows, e, 0, (const uint32_t*)w, b, count, y, i * m);
  }
}
