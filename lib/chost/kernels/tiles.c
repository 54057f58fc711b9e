//@ piece put_clamped: clamp
/* Stores s within [lo, hi]. */
#if K_VW
#define K_PUT_CLAMPED(y, s) s = K_MAX(lo, s), s = K_MIN(hi, s), K_STORE(y, s)
#endif

//@ piece tiles: put_clamped
/* What tiles of rows x 16 results have in common: y[r][j] = the sum of a[r * a_row + i * a_k] * b[i * ldb +
 * j], plus what is there unless `first`, plus a bias of rows or of columns, within [lo, hi]. Sums stay in
 * registers to the end: one vector a row where it has 16 elements, else two at a time. They begin with 0, as
 * a bias that cancels most of a sum would cost digits of each of its terms. */
typedef struct K_tiles {
  ptrdiff_t k, a_row, a_k, ldb, ldy;
  float lo, hi;
  int first;
  const int* at; /* of K_conv_rows: b[at[i] + j] */
} K_tiles;
#define K_ROWS4(each) each(0) each(1) each(2) each(3)
#define K_ROWS6(each) K_ROWS4(each) each(4) each(5)
#if K_WIDE
#if defined(__clang__)
#define K_WIDE_CLAMP(s) __builtin_ia32_minps512(hi, __builtin_ia32_maxps512(lo, s, 4), 4)
#else
#define K_WIDE_OF(what, a, b) __builtin_ia32_##what##ps512_mask(a, b, (K_wide){0}, -1, 4)
#define K_WIDE_CLAMP(s) K_WIDE_OF(min, hi, K_WIDE_OF(max, lo, s))
#endif
#define K_TILE_VEC K_wide
#define K_TILE_STEP K_LANES
#define K_TILE_LOAD(p) K_WIDE_LOAD(p)
#define K_TILE_PUT(y, s) K_WIDE_STORE(y, K_WIDE_CLAMP(s));
#define K_SECOND(...)
#elif K_VW
#define K_TILE_VEC K_vec
#define K_TILE_STEP (2 * K_VW)
#define K_TILE_LOAD(p) K_LOAD(p)
#define K_TILE_PUT(y, s) K_PUT_CLAMPED(y, s);
#define K_SECOND(...) __VA_ARGS__
#endif
#if K_VW
#define K_TILE_BEGIN(r)  \
  K_TILE_VEC s##r = {0}; \
  K_SECOND(K_TILE_VEC u##r = {0};)
#define K_TILE_ROW(r) \
  s##r += bias[r];    \
  K_SECOND(u##r += bias[r];)
#define K_TILE_COLUMN(r)         \
  s##r += K_TILE_LOAD(bias + j); \
  K_SECOND(u##r += K_TILE_LOAD(bias + j + K_VW);)
#define K_TILE_RESUME(r)            \
  s##r += K_TILE_LOAD(z + (r)*ldy); \
  K_SECOND(u##r += K_TILE_LOAD(z + (r)*ldy + K_VW);)
#define K_TILE_SUM(r)        \
  s##r += x[(r)*a_row] * v0; \
  K_SECOND(u##r += x[(r)*a_row] * v1;)
#define K_TILE_END(r) K_TILE_PUT(z + (r)*ldy, s##r) K_SECOND(K_TILE_PUT(z + (r)*ldy + K_VW, u##r))
#define K_TILE(rows, bias_of)                                                          \
  const K_TILE_VEC lo = (K_TILE_VEC){0} + q->lo, hi = (K_TILE_VEC){0} + q->hi;         \
  for (ptrdiff_t j = 0; j < K_LANES; j += K_TILE_STEP) {                               \
    const float *x = a, *c = b + j;                                                    \
    float* const z = y + j;                                                            \
    K_ROWS##rows(K_TILE_BEGIN) for (ptrdiff_t i = 0; i < k; ++i, x += a_k, c += ldb) { \
      const K_TILE_VEC v0 = K_TILE_LOAD(c);                                            \
      K_SECOND(const K_TILE_VEC v1 = K_TILE_LOAD(c + K_VW);)                           \
      K_ROWS##rows(K_TILE_SUM)                                                         \
    }                                                                                  \
    if (!q->first) {                                                                   \
      K_ROWS##rows(K_TILE_RESUME)                                                      \
    }                                                                                  \
    K_ROWS##rows(K_TILE_##bias_of) K_ROWS##rows(K_TILE_END)                            \
  }
#else
#define K_TILE_ROW bias[r]
#define K_TILE_COLUMN bias[j]
#define K_TILE(rows, bias_of)                                             \
  for (ptrdiff_t r = 0; r < (rows); ++r, y += ldy) {                      \
    float s[K_LANES] = {0};                                               \
    for (ptrdiff_t i = 0; i < k; ++i) {                                   \
      const float x = a[r * a_row + i * a_k];                             \
      for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += x * b[i * ldb + j]; \
    }                                                                     \
    for (ptrdiff_t j = 0; j < K_LANES; ++j) {                             \
      s[j] += (q->first ? 0.0f : y[j]) + K_TILE_##bias_of;                \
      s[j] = s[j] < q->lo ? q->lo : s[j];                                 \
      y[j] = s[j] > q->hi ? q->hi : s[j];                                 \
    }                                                                     \
  }
#endif

//@ piece panel6: tiles
/* a is a panel of weights, a[i][6], and each row has a bias. */
static void K_panel6(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = 1, a_k = 6, ldb = q->ldb, ldy = q->ldy;
  K_TILE(6, ROW)
}

//@ piece panel4: tiles
static void K_panel4(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = 1, a_k = 4, ldb = q->ldb, ldy = q->ldy;
  K_TILE(4, ROW)
}

//@ piece micro12: tiles
/* 12 x 8 sums of two panels of six rows and one vector, as rows of 16. */
#if K_VW == 8
#define K_NARROW_DECLARE(r) K_vec s##r = {0}, u##r = {0};
#define K_NARROW_SUM(r) s##r += a[r] * v, u##r += c[r] * v;
#define K_NARROW_END(r) K_STORE(t + (r)*K_LANES, s##r), K_STORE(t + (6 + (r)) * K_LANES, u##r);
static void K_micro12(ptrdiff_t k, const float* a, const float* c, const float* b, ptrdiff_t ldb, float* t) {
  K_ROWS6(K_NARROW_DECLARE)
  for (ptrdiff_t i = 0; i < k; ++i, a += 6, c += 6, b += ldb) {
    const K_vec v = K_LOAD(b);
    K_ROWS6(K_NARROW_SUM)
  }
  K_ROWS6(K_NARROW_END)
}
#endif

//@ piece rows: tiles
/* b is a panel b[i][16], and each column has a bias. */
static void K_rows6(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = q->a_row, a_k = q->a_k, ldb = K_LANES, ldy = q->ldy;
  K_TILE(6, COLUMN)
}

static void K_rows4(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = q->a_row, a_k = q->a_k, ldb = K_LANES, ldy = q->ldy;
  K_TILE(4, COLUMN)
}

//@ piece micro1: base
/* t[j] = sum of a[i * a_k] * b[i][j] for 16 columns. */
static void K_micro1(ptrdiff_t k, const float* a, ptrdiff_t a_k, const float* b, float* t) {
#if K_VW
  for (ptrdiff_t j = 0; j < K_LANES; j += 2 * K_VW) {
    K_vec s = {0}, u = {0};
    for (ptrdiff_t i = 0; i < k; ++i) {
      s += a[i * a_k] * K_LOAD(b + i * K_LANES + j);
      u += a[i * a_k] * K_LOAD(b + i * K_LANES + j + K_VW);
    }
    K_STORE(t + j, s), K_STORE(t + j + K_VW, u);
  }
#else
  float s[K_LANES] = {0};
  for (ptrdiff_t i = 0; i < k; ++i) {
    for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += a[i * a_k] * b[i * K_LANES + j];
  }
  memcpy(t, s, sizeof s);
#endif
}
