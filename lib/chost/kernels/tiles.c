//@ piece put_clamped: clamp
// Stores s within [lo, hi].
#if K_VW
#define K_PUT_CLAMPED(y, s) s = K_MAX(lo, s), s = K_MIN(hi, s), K_STORE(y, s)
#endif

//@ piece tiles: put_clamped
/* Rows x 16 results: sums of a[r * a_row + i * a_k] * b[i * ldb + j], what is there unless `first`, a bias.
 */
// Within [lo, hi]. Sums stay in registers to the end: one vector a row where it has 16 elements, else two at
// a time. They begin with 0, as a bias that cancels most of a sum would cost digits of each of its terms. The
// halves of 8 columns are at(half, i) and to(half), so that they need not lie side by side.
typedef struct K_tiles {
  ptrdiff_t k, a_row, a_k, ldb, ldy;
  float lo, hi;
  int first;
  //@ when conv_rows
  // of K_conv_rows: b[at[i] + j]
  const int* at;
  //@ end
} K_tiles;
#define K_ROWS4(each) each(0) each(1) each(2) each(3)
#define K_ROWS6(each) K_ROWS4(each) each(4) each(5)
#if K_VW
#define K_HALF_BEGIN(r) K_vec s##r = {0}, u##r = {0};
#define K_HALF_SUM(r) s##r += x[(r)*a_row] * v0, u##r += x[(r)*a_row] * v1;
#define K_HALF_RESUME(r) s##r += K_LOAD(z0 + (r)*ldy), u##r += K_LOAD(z1 + (r)*ldy);
#define K_HALF_ROW(r) s##r += bias[r], u##r += bias[r];
//@ when rows
#define K_HALF_COLUMN(r) s##r += K_LOAD(bias + 8 * h), u##r += K_LOAD(bias + 8 * h + K_VW);
//@ end
#define K_HALF_END(r) K_PUT_CLAMPED(z0 + (r)*ldy, s##r), K_PUT_CLAMPED(z1 + (r)*ldy, u##r);
#define K_HALVES(rows, bias_of, at, to) \
  const K_vec lo = (K_vec){0} + q->lo, hi = (K_vec){0} + q->hi; \
  for (ptrdiff_t h = 0; h < 8 / K_VW; ++h) { \
    const float* x = a; \
    float *const z0 = to(h), *const z1 = K_VW == 8 ? to(1) : z0 + K_VW; \
    K_ROWS##rows(K_HALF_BEGIN) for (ptrdiff_t i = 0; i < k; ++i, x += a_k) { \
      const K_vec v0 = K_LOAD(at(h, i)), v1 = K_LOAD(K_VW == 8 ? at(1, i) : at(h, i) + K_VW); \
      K_ROWS##rows(K_HALF_SUM) \
    } \
    if (!q->first) { \
      K_ROWS##rows(K_HALF_RESUME) \
    } \
    K_ROWS##rows(K_HALF_##bias_of) K_ROWS##rows(K_HALF_END) \
  }
#else
#define K_HALF_ROW bias[r / 2]
//@ when rows
#define K_HALF_COLUMN bias[r % 2 * 8 + j]
//@ end
#define K_HALVES(rows, bias_of, at, to) \
  for (ptrdiff_t r = 0; r < 2 * (rows); ++r) { \
    float s[8] = {0}, *const z0 = to(r % 2) + r / 2 * ldy; \
    for (ptrdiff_t i = 0; i < k; ++i) { \
      const float x = a[r / 2 * a_row + i * a_k], *const c = at(r % 2, i); \
      for (ptrdiff_t j = 0; j < 8; ++j) s[j] += x * c[j]; \
    } \
    for (ptrdiff_t j = 0; j < 8; ++j) { \
      s[j] = s[j] + (q->first ? 0.0f : z0[j]) + K_HALF_##bias_of; \
      s[j] = s[j] < q->lo ? q->lo : s[j]; \
      z0[j] = s[j] > q->hi ? q->hi : s[j]; \
    } \
  }
#endif
#if K_WIDE
#if defined(__clang__)
#define K_WIDE_CLAMP(s) __builtin_ia32_minps512(hi, __builtin_ia32_maxps512(lo, s, 4), 4)
#else
#define K_WIDE_OF(what, a, b) __builtin_ia32_##what##ps512_mask(a, b, (K_wide){0}, -1, 4)
#define K_WIDE_CLAMP(s) K_WIDE_OF(min, hi, K_WIDE_OF(max, lo, s))
#endif
#define K_WIDE_BEGIN(r) K_wide s##r = {0};
#define K_WIDE_SUM(r) s##r += x[(r)*a_row] * v;
#define K_WIDE_RESUME(r) s##r += K_WIDE_LOAD(z0 + (r)*ldy);
#define K_WIDE_ROW(r) s##r += bias[r];
//@ when rows
#define K_WIDE_COLUMN(r) s##r += K_WIDE_LOAD(bias);
//@ end
#define K_WIDE_END(r) K_WIDE_STORE(z0 + (r)*ldy, K_WIDE_CLAMP(s##r));
#define K_TILE(rows, bias_of, at, to) \
  { \
    const K_wide lo = (K_wide){0} + q->lo, hi = (K_wide){0} + q->hi; \
    const float* x = a; \
    float* const z0 = to(0); \
    K_ROWS##rows(K_WIDE_BEGIN) for (ptrdiff_t i = 0; i < k; ++i, x += a_k) { \
      const K_wide v = K_WIDE_LOAD(at(0, i)); \
      K_ROWS##rows(K_WIDE_SUM) \
    } \
    if (!q->first) { \
      K_ROWS##rows(K_WIDE_RESUME) \
    } \
    K_ROWS##rows(K_WIDE_##bias_of) K_ROWS##rows(K_WIDE_END) \
  }
#else
#define K_TILE K_HALVES
#endif
#define K_BESIDE(h, i) (b + (i)*ldb + 8 * (h))
#define K_INTO(h) (y + 8 * (h))

//@ piece tiles_alone: tiles
// The sums of q alone, as rows of 16.
static K_tiles K_tiles_alone(const K_tiles* q) {
  K_tiles sums = *q;
  sums.ldy = K_LANES, sums.lo = -INFINITY, sums.hi = INFINITY, sums.first = 1;
  return sums;
}

//@ piece tiles_of: tiles epilogue
// Part of the sums, with what is there unless they are the `first`, clamped if they are the `last`.
static K_tiles K_tiles_of(
    const K_epilogue* e, ptrdiff_t k, ptrdiff_t ldb, ptrdiff_t ldy, int first, int last) {
  const float lo = last ? e->lo : -INFINITY, hi = last ? e->hi : INFINITY;
  const K_tiles q = {.k = k, .ldb = ldb, .ldy = ldy, .lo = lo, .hi = hi, .first = first};
  return q;
}

//@ piece panel6: tiles
// a is a panel of weights, a[i][6], and each row has a bias.
static void K_panel6(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = 1, a_k = 6, ldb = q->ldb, ldy = q->ldy;
  K_TILE(6, ROW, K_BESIDE, K_INTO)
}

//@ piece panel4: tiles
static void K_panel4(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = 1, a_k = 4, ldb = q->ldb, ldy = q->ldy;
  K_TILE(4, ROW, K_BESIDE, K_INTO)
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
  K_TILE(6, COLUMN, K_BESIDE, K_INTO)
}

static void K_rows4(const K_tiles* q, const float* a, const float* b, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = q->a_row, a_k = q->a_k, ldb = K_LANES, ldy = q->ldy;
  K_TILE(4, COLUMN, K_BESIDE, K_INTO)
}

//@ piece tiles12: tiles
/* Tiles of 12 x 32 sums, on machines with AVX-512. */
// Those with two units for products wait for the sums of smaller ones; and each factor is loaded once for two
// panels.
#if K_WIDE
#define K_ROWS12(each) K_ROWS6(each) each(6) each(7) each(8) each(9) each(10) each(11)
#define K_PAIR_BEGIN(r) K_wide s##r = {0}, u##r = {0};
#define K_PAIR_SUM(r, from) \
  { \
    const K_wide x = (from) - (K_wide){0}; \
    s##r += x * v, u##r += x * w; \
  }
#define K_PAIR_RESUME(r) s##r += K_WIDE_LOAD(to(r)), u##r += K_WIDE_LOAD(to(r) + beside);
#define K_PAIR_ROW(r) s##r += bias[r], u##r += bias[r];
#define K_PAIR_COLUMN(r) s##r += K_WIDE_LOAD(bias), u##r += K_WIDE_LOAD(bias + K_LANES);
#define K_PAIR_END(r) \
  K_WIDE_STORE(to(r), K_WIDE_CLAMP(s##r)), K_WIDE_STORE(to(r) + beside, K_WIDE_CLAMP(u##r));
// Behind the sums.
#define K_PAIR_RESULTS(bias_of) \
  if (!q->first) { \
    K_ROWS12(K_PAIR_RESUME) \
  } \
  K_ROWS12(K_PAIR_##bias_of) K_ROWS12(K_PAIR_END)
#endif

//@ piece rows12: tiles12
/* Twelve rows by two panels b[i][16]; each column has a bias. */
// Addresses of three rows go by one pointer, as there are fewer registers for them than rows.
#if K_WIDE
#define K_PAIR_SUMS(x, r0, r1, r2) \
  K_PAIR_SUM(r0, (x)[0]) K_PAIR_SUM(r1, (x)[a_row]) K_PAIR_SUM(r2, (x)[2 * a_row])
#define to(r) (y + (r)*ldy)
static void K_rows12(
    const K_tiles* q, const float* a, const float* b, const float* c, const float* bias, float* y) {
  const ptrdiff_t k = q->k, a_row = q->a_row, a_k = q->a_k, ldy = q->ldy, beside = K_LANES;
  const K_wide lo = (K_wide){0} + q->lo, hi = (K_wide){0} + q->hi;
  const float *a3 = a + 3 * a_row, *a6 = a3 + 3 * a_row, *a9 = a6 + 3 * a_row;
  K_ROWS12(K_PAIR_BEGIN)
  for (ptrdiff_t i = 0; i < k; ++i, a += a_k, a3 += a_k, a6 += a_k, a9 += a_k) {
    const K_wide v = K_WIDE_LOAD(b + i * K_LANES), w = K_WIDE_LOAD(c + i * K_LANES);
    K_PAIR_SUMS(a, 0, 1, 2) K_PAIR_SUMS(a3, 3, 4, 5) K_PAIR_SUMS(a6, 6, 7, 8) K_PAIR_SUMS(a9, 9, 10, 11)
  }
  K_PAIR_RESULTS(COLUMN)
}
#undef to
#endif

//@ piece panel12: tiles12
/* Two panels of weights a[i][6] and c[i][6] by 32 columns; each row has a bias. Results of the second panel
 * lie `next` behind those of the first, those of the second 16 columns `beside` behind the others. */
#if K_WIDE
#define to(r) (y + ((r) < 6 ? (r)*ldy : next + ((r)-6) * ldy))
#define K_PAIR_OF_PANEL(r) K_PAIR_SUM(r, (r) < 6 ? a[r] : c[(r)-6])
static void K_panel12(const K_tiles* q, const float* a, const float* c, const float* b, const float* bias,
    float* y, ptrdiff_t next, ptrdiff_t beside) {
  const ptrdiff_t k = q->k, ldb = q->ldb, ldy = q->ldy;
  const K_wide lo = (K_wide){0} + q->lo, hi = (K_wide){0} + q->hi;
  K_ROWS12(K_PAIR_BEGIN)
  for (ptrdiff_t i = 0; i < k; ++i, a += 6, c += 6, b += ldb) {
    const K_wide v = K_WIDE_LOAD(b), w = K_WIDE_LOAD(b + K_LANES);
    K_ROWS12(K_PAIR_OF_PANEL)
  }
  K_PAIR_RESULTS(ROW)
}
#undef to
#endif

//@ piece micro1$form: $unpack
//@ hole form suffix: what names of this form end in
//@ hole weight type: an element of b
//@ hole load function: K_VW weights as floats
//@ hole value function: one of them
//@ hole unpack piece: where these are
//@ hole caller piece: who calls it on machines with K_VW == 8, too
//@ form form= weight=float load=K_LOAD value= unpack=base caller=gemm
//@ form form=_half weight=uint16_t load=K_LOAD_HALF value=K_half unpack=half_load caller=nobody
//@ unless $caller
// Else gemv has sums of its own.
#if K_VW != 8
//@ end
/* t[j] = sum of a[i * a_k] * b[i][j] for 16 columns. */
static void K_micro1$form(ptrdiff_t k, const float* a, ptrdiff_t a_k, const $weight* b, float* t) {
#if K_VW
  for (ptrdiff_t j = 0; j < K_LANES; j += 2 * K_VW) {
    K_vec s = {0}, u = {0};
    for (ptrdiff_t i = 0; i < k; ++i) {
      s += a[i * a_k] * $load(b + i * K_LANES + j);
      u += a[i * a_k] * $load(b + i * K_LANES + j + K_VW);
    }
    K_STORE(t + j, s), K_STORE(t + j + K_VW, u);
  }
#else
  float s[K_LANES] = {0};
  for (ptrdiff_t i = 0; i < k; ++i) {
    for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += a[i * a_k] * $value(b[i * K_LANES + j]);
  }
  memcpy(t, s, sizeof s);
#endif
}
//@ unless $caller
#endif
//@ end
