//@ piece sums: base
// The widest vectors, of which each sum of a recurrent layer is one.
#if K_WIDE
typedef K_wide K_sums;
#define K_SUMS 16
#define K_SUMS_LOAD(p) ((K_sums)(*(const K_wideu*)(const void*)(p)))
#define K_SUMS_STORE(p, v) (*(K_wideu*)(void*)(p) = (v))
#elif K_VW
typedef K_vec K_sums;
#define K_SUMS K_VW
#define K_SUMS_LOAD(p) ((K_sums)K_LOAD(p))
#define K_SUMS_STORE(p, v) K_STORE(p, v)
#endif

// Keeps a vector that several products share in its register: GCC would rather load it for each of them.
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define K_KEEP(v) __asm__("" : "+v"(v))
#else
#define K_KEEP(v) (void)(v)
#endif

// 16 weights from p on as floats w.
#define K_LANES_OF(w, p) const float* const w = (p)

//@ piece recurrent$form: sums $unpack
//@ for LSTM, GRU, RNN: constant weights
//@ hole form suffix: what names of this form end in
//@ hole weight type: an element of w
//@ hole load function: K_SUMS weights as floats
//@ hole lanes function: declares 16 weights as floats
//@ hole unpack piece: where these are
//@ form form= weight=float load=K_SUMS_LOAD lanes=K_LANES_OF unpack=base
//@ form form=_half weight=uint16_t load=K_LOAD_HALF_SUMS lanes=K_HALF_LANES_OF unpack=half_lanes
/* y[r][j] = init[r][j] + sum over i of x[r * step + i] * w[i][j] for n columns, a multiple of 16: the input's
 * part of a recurrent layer for many steps, and the recurrent part for one. w is packed in panels of 64
 * columns, panel[k][64], behind them of 16. */
#if K_VW
// One row, four vectors of columns; dx: from one element of x to the next, 1 or -1.
static void K_recurrent$form_row(
    ptrdiff_t k, const float* x, ptrdiff_t dx, const $weight* w, ptrdiff_t ldw, const float* init, float* y) {
  K_sums s0 = K_SUMS_LOAD(init), s1 = K_SUMS_LOAD(init + K_SUMS);
  K_sums s2 = K_SUMS_LOAD(init + 2 * K_SUMS), s3 = K_SUMS_LOAD(init + 3 * K_SUMS);
  for (ptrdiff_t i = 0; i < k; ++i, x += dx, w += ldw) {
    const float v = *x;
    s0 += v * $load(w);
    s1 += v * $load(w + K_SUMS);
    s2 += v * $load(w + 2 * K_SUMS);
    s3 += v * $load(w + 3 * K_SUMS);
  }
  K_SUMS_STORE(y, s0);
  K_SUMS_STORE(y + K_SUMS, s1);
  K_SUMS_STORE(y + 2 * K_SUMS, s2);
  K_SUMS_STORE(y + 3 * K_SUMS, s3);
}

// Four rows, two vectors of columns; `next`: from the init of a row to that of the next.
static void K_recurrent$form_rows4(ptrdiff_t k, const float* x, ptrdiff_t step, const $weight* w,
    ptrdiff_t ldw, const float* init, ptrdiff_t next, float* y, ptrdiff_t ldy) {
  K_sums s0 = K_SUMS_LOAD(init), t0 = K_SUMS_LOAD(init + K_SUMS);
  K_sums s1 = K_SUMS_LOAD(init + next), t1 = K_SUMS_LOAD(init + next + K_SUMS);
  K_sums s2 = K_SUMS_LOAD(init + 2 * next), t2 = K_SUMS_LOAD(init + 2 * next + K_SUMS);
  K_sums s3 = K_SUMS_LOAD(init + 3 * next), t3 = K_SUMS_LOAD(init + 3 * next + K_SUMS);
  for (ptrdiff_t i = 0; i < k; ++i, ++x, w += ldw) {
    K_sums a = $load(w), b = $load(w + K_SUMS);
    K_KEEP(a);
    K_KEEP(b);
    s0 += x[0] * a;
    t0 += x[0] * b;
    s1 += x[step] * a;
    t1 += x[step] * b;
    s2 += x[2 * step] * a;
    t2 += x[2 * step] * b;
    s3 += x[3 * step] * a;
    t3 += x[3 * step] * b;
  }
  K_SUMS_STORE(y, s0);
  K_SUMS_STORE(y + K_SUMS, t0);
  K_SUMS_STORE(y + ldy, s1);
  K_SUMS_STORE(y + ldy + K_SUMS, t1);
  K_SUMS_STORE(y + 2 * ldy, s2);
  K_SUMS_STORE(y + 2 * ldy + K_SUMS, t2);
  K_SUMS_STORE(y + 3 * ldy, s3);
  K_SUMS_STORE(y + 3 * ldy + K_SUMS, t3);
}
#endif

// 16 columns of one row.
static void K_recurrent$form_lanes(
    ptrdiff_t k, const float* x, const $weight* w, ptrdiff_t ldw, const float* init, float* y) {
  float s[K_LANES];
  for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] = init[j];
  for (ptrdiff_t i = 0; i < k; ++i, w += ldw) {
    $lanes(u, w);
    for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += x[i] * u[j];
  }
  for (ptrdiff_t j = 0; j < K_LANES; ++j) y[j] = s[j];
}

static void K_recurrent$form(ptrdiff_t rows, ptrdiff_t n, ptrdiff_t k, const float* x, ptrdiff_t step,
    const $weight* w, const float* init, ptrdiff_t next, float* y) {
  for (ptrdiff_t n0 = 0; n0 < n;) {
    const ptrdiff_t width = n - n0 < 64 ? K_LANES : 64;
    ptrdiff_t r = 0;
#if K_VW
    /* So many weights at once that they stay in the first-level cache for all rows. */
    const ptrdiff_t fours = width == 64 ? rows / 4 * 4 : 0;
    for (ptrdiff_t k0 = 0; fours && k0 < k; k0 += 128) {
      const ptrdiff_t kn = k - k0 < 128 ? k - k0 : 128;
      for (ptrdiff_t j = 0; j < width; j += 2 * K_SUMS) {
        for (r = 0; r < fours; r += 4) {
          float* const to = y + r * n + n0 + j;
          K_recurrent$form_rows4(kn, x + r * step + k0, step, w + k0 * width + j, width,
              k0 ? to : init + r * next + n0 + j, k0 ? n : next, to, n);
        }
      }
    }
    for (r = fours; width == 64 && r < rows; ++r) {
      for (ptrdiff_t j = 0; j < width; j += 4 * K_SUMS)
        K_recurrent$form_row(k, x + r * step, 1, w + j, width, init + r * next + n0 + j, y + r * n + n0 + j);
    }
#endif
    for (; r < rows; ++r) {
      for (ptrdiff_t j = 0; j < width; j += K_LANES)
        K_recurrent$form_lanes(k, x + r * step, w + j, width, init + r * next + n0 + j, y + r * n + n0 + j);
    }
    w += k * width;
    n0 += width;
  }
}

// The same for one row. `back`: from the last weight of the last panel of 64 to the first, so that of two
// steps the later one begins with what the other has left in the nearest cache.
static void K_recurrent$form_step(
    int back, ptrdiff_t n, ptrdiff_t k, const float* x, const $weight* w, const float* init, float* y) {
  ptrdiff_t at = 0;
  (void)back;
#if K_VW
  for (const ptrdiff_t width = 4 * K_SUMS; at < n / 64 * 64; at += width) {
    const ptrdiff_t n0 = back ? n / 64 * 64 - width - at : at, panel = n0 / 64 * 64;
    const $weight* const from = w + panel * k + (n0 - panel);
    if (back) {
      K_recurrent$form_row(k, x + k - 1, -1, from + (k - 1) * 64, -64, init + n0, y + n0);
    } else {
      K_recurrent$form_row(k, x, 1, from, 64, init + n0, y + n0);
    }
  }
#endif
  for (; at < n; at += K_LANES) {
    const ptrdiff_t panel = at / 64 * 64, width = n - panel < 64 ? K_LANES : 64;
    const $weight* const from = width == 64 ? w + panel * k + (at - panel) : w + at * k;
    K_recurrent$form_lanes(k, x, from, width, init + at, y + at);
  }
}
