//@ piece plane_shape: clamp copy_any
/* Windows over one channel at a time. */
// A channel is copied with its padding, its columns sorted by their phase modulo the stride, so that every
// tap reads consecutive elements: plane[row][phase][column], `pitch` columns in each phase.
typedef struct K_plane_shape {
  ptrdiff_t batch, channels, multiplier, h, w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w;
  ptrdiff_t dilation_h, dilation_w, pad_h, pad_w, rows, pitch;
  // floats between two planes, 0: there is one
  ptrdiff_t apart;
  // of each tap, the offset from the plane's element for output column 0
  const int* tap;
} K_plane_shape;

// What is around the channels in the plane, the same for all of them.
static void K_plane_fill(const K_plane_shape* p, float value, float* plane) {
  for (ptrdiff_t i = 0; i < p->apart + p->rows * p->stride_w * p->pitch; ++i) plane[i] = value;
}

// Copies a channel into its plane.
static void K_plane_copy(const K_plane_shape* p, const float* x, float* plane) {
  const ptrdiff_t s = p->stride_w, end = p->pad_h + p->h < p->rows ? p->pad_h + p->h : p->rows;
  for (ptrdiff_t q = 0; q < s; ++q, plane += p->pitch) {
    const ptrdiff_t first = p->pad_w - q, last = p->w + p->pad_w - q;
    const ptrdiff_t lo = first <= 0 ? 0 : (first + s - 1) / s;
    ptrdiff_t hi = last <= 0 ? 0 : (last + s - 1) / s;
    hi = hi < p->pitch ? hi : p->pitch;
    for (ptrdiff_t r = p->pad_h; hi > lo && r < end; ++r) {
      K_copy_step(plane + r * s * p->pitch + lo, x + ((r - p->pad_h) * p->w + lo * s - first), s, hi - lo);
    }
  }
}

// The plane of channel i of n, which begins at x.
// With two planes the next channel is copied already: loads do not wait for stores of other widths that
// have not left the core yet.
static const float* K_plane_of(
    const K_plane_shape* p, const float* x, ptrdiff_t i, ptrdiff_t n, float* planes) {
  float *const own = planes + (i % 2 != 0 ? p->apart : 0), *const other =
                                                               planes + (i % 2 != 0 ? 0 : p->apart);
  if (i == 0 || p->apart == 0) K_plane_copy(p, x, own);
  if (p->apart != 0 && i + 1 < n) K_plane_copy(p, x + p->h * p->w, other);
  return own;
}

// Results come in units of 4 rows x K_UNIT_COLS columns, two units at a time: eight sums in registers. a
// and b: where their first taps are in the plane; its rows for neighbours in a unit are `step` apart.
#if K_VW
#define K_UNIT_COLS K_VW
#else
#define K_UNIT_COLS 4
#endif
typedef void (*K_unit_pair)(const K_plane_shape* p, ptrdiff_t step, const float* a, const float* b,
    const void* with, float* y0, float* y1, ptrdiff_t ldy);

// Walks over one channel of the result; the last units of a row or column overlap those before them.
// What is smaller than a unit is copied out of one.
static void K_plane_units(
    const K_plane_shape* p, const float* plane, K_unit_pair units, const void* with, float* y) {
  const ptrdiff_t n = p->out_w, step = p->stride_h * p->stride_w * p->pitch;
  const ptrdiff_t last_x = n > K_UNIT_COLS ? n - K_UNIT_COLS : 0, last_y = p->out_h > 4 ? p->out_h - 4 : 0;
  const ptrdiff_t rows = p->out_h < 4 ? p->out_h : 4, cols = n < K_UNIT_COLS ? n : K_UNIT_COLS;
  float t[8 * K_UNIT_COLS];
  for (ptrdiff_t x = 0, r = 0; r <= last_y;) {
    const float* from[2] = {NULL, NULL};
    float* to[2] = {NULL, NULL};
    for (int i = 0; i < 2; ++i) {
      if (r > last_y) { /* an odd one is computed twice */
        from[1] = from[0];
        to[1] = to[0];
        break;
      }
      from[i] = plane + r * step + x;
      to[i] = y + r * n + x;
      if (x < last_x) {
        x = x + K_UNIT_COLS < last_x ? x + K_UNIT_COLS : last_x;
      } else {
        x = 0;
        r = r < last_y && r + 4 > last_y ? last_y : r + 4;
      }
    }
    if (rows == 4 && cols == K_UNIT_COLS) {
      units(p, step, from[0], from[1], with, to[0], to[1], n);
      continue;
    }
    units(p, step, from[0], from[1], with, t, t + 4 * K_UNIT_COLS, K_UNIT_COLS);
    for (ptrdiff_t i = 0; i < rows; ++i) {
      K_copy(to[0] + i * n, t + i * K_UNIT_COLS, cols);
      K_copy(to[1] + i * n, t + (4 + i) * K_UNIT_COLS, cols);
    }
  }
}

//@ piece depthwise_units: epilogue plane_shape
typedef struct K_depthwise_filter {
  const float* w;
  float bias, lo, hi;
} K_depthwise_filter;

#if K_VW
#define K_UNIT_BEGIN \
  const K_depthwise_filter* const f = (const K_depthwise_filter*)with; \
  const float* w = f->w; \
  const K_vec lo = (K_vec){0} + f->lo, hi = (K_vec){0} + f->hi; \
  K_vec s0 = (K_vec){0} + f->bias, s1 = s0, s2 = s0, s3 = s0, u0 = s0, u1 = s0, u2 = s0, u3 = s0
#define K_UNIT_ROW(y, s) s = K_MAX(lo, s), s = K_MIN(hi, s), K_STORE(y, s)
#define K_UNIT_END \
  K_UNIT_ROW(y0, s0), K_UNIT_ROW(y0 + ldy, s1); \
  K_UNIT_ROW(y0 + 2 * ldy, s2), K_UNIT_ROW(y0 + 3 * ldy, s3); \
  K_UNIT_ROW(y1, u0), K_UNIT_ROW(y1 + ldy, u1); \
  K_UNIT_ROW(y1 + 2 * ldy, u2), K_UNIT_ROW(y1 + 3 * ldy, u3)

static void K_depthwise_units(const K_plane_shape* p, ptrdiff_t step, const float* a, const float* b,
    const void* with, float* y0, float* y1, ptrdiff_t ldy) {
  const int *tap = p->tap, *const end = tap + p->kernel_h * p->kernel_w;
  K_UNIT_BEGIN;
  for (; tap < end; ++tap, ++w) {
    const K_vec v = (K_vec){0} + *w;
    const float *c = a + *tap, *d = b + *tap;
    s0 += v * K_LOAD(c);
    s1 += v * K_LOAD(c + step);
    s2 += v * K_LOAD(c + 2 * step);
    s3 += v * K_LOAD(c + 3 * step);
    u0 += v * K_LOAD(d);
    u1 += v * K_LOAD(d + step);
    u2 += v * K_LOAD(d + 2 * step);
    u3 += v * K_LOAD(d + 3 * step);
  }
  K_UNIT_END;
}
#else
static void K_depthwise_units(const K_plane_shape* p, ptrdiff_t step, const float* a, const float* b,
    const void* with, float* y0, float* y1, ptrdiff_t ldy) {
  const K_depthwise_filter* const f = (const K_depthwise_filter*)with;
  for (ptrdiff_t i = 0; i < 8 * K_UNIT_COLS; ++i) {
    const ptrdiff_t r = i / K_UNIT_COLS % 4, c = i % K_UNIT_COLS;
    const float* from = (i < 4 * K_UNIT_COLS ? a : b) + r * step + c;
    float s = f->bias;
    for (ptrdiff_t t = 0; t < p->kernel_h * p->kernel_w; ++t) s += f->w[t] * from[p->tap[t]];
    s = s < f->lo ? f->lo : s;
    (i < 4 * K_UNIT_COLS ? y0 : y1)[r * ldy + c] = s > f->hi ? f->hi : s;
  }
}
#endif

//@ piece depthwise_windows: depthwise_units
#if K_VW
/* Five rows of taps whose distance is that of the rows of the result: each vector is loaded once (volatile:
 * compilers read memory again rather than keep a register) for all of them. */
#define K_UNIT_NEXT(c, d) \
  v = *(const volatile K_vecu*)(const void*)(c), z = *(const volatile K_vecu*)(const void*)(d)
#define K_UNIT_ADD(r, k) s##r += w##k * v, u##r += w##k * z
static void K_depthwise_units5(const K_plane_shape* p, ptrdiff_t step, const float* a, const float* b,
    const void* with, float* y0, float* y1, ptrdiff_t ldy) {
  const ptrdiff_t n = p->kernel_w;
  K_UNIT_BEGIN;
  for (ptrdiff_t x = 0; x < n; ++x, ++w) {
    const float *c = a + p->tap[x], *d = b + p->tap[x];
    const K_vec w0 = (K_vec){0} + w[0], w1 = (K_vec){0} + w[n], w2 = (K_vec){0} + w[2 * n];
    const K_vec w3 = (K_vec){0} + w[3 * n], w4 = (K_vec){0} + w[4 * n];
    K_vec v, z;
    K_UNIT_NEXT(c, d);
    K_UNIT_ADD(0, 0);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(0, 1), K_UNIT_ADD(1, 0);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(0, 2), K_UNIT_ADD(1, 1), K_UNIT_ADD(2, 0);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(0, 3), K_UNIT_ADD(1, 2), K_UNIT_ADD(2, 1), K_UNIT_ADD(3, 0);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(0, 4), K_UNIT_ADD(1, 3), K_UNIT_ADD(2, 2), K_UNIT_ADD(3, 1);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(1, 4), K_UNIT_ADD(2, 3), K_UNIT_ADD(3, 2);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(2, 4), K_UNIT_ADD(3, 3);
    K_UNIT_NEXT(c += step, d += step);
    K_UNIT_ADD(3, 4);
  }
  K_UNIT_END;
}

// A column of K_VW x `rows` results of 3x3 taps in the same case, from top to bottom: each vector is loaded
// once for the three rows that it takes part in.
static void K_depthwise_column3(const K_plane_shape* p, ptrdiff_t step, const float* a,
    const K_depthwise_filter* f, float* y, ptrdiff_t ldy, ptrdiff_t rows) {
  const ptrdiff_t x1 = p->tap[1], x2 = p->tap[2];
  const float* const w = f->w;
  const K_vec lo = (K_vec){0} + f->lo, hi = (K_vec){0} + f->hi, bias = (K_vec){0} + f->bias;
  const K_vec w0 = (K_vec){0} + w[0], w1 = (K_vec){0} + w[1], w2 = (K_vec){0} + w[2];
  const K_vec w3 = (K_vec){0} + w[3], w4 = (K_vec){0} + w[4], w5 = (K_vec){0} + w[5];
  const K_vec w6 = (K_vec){0} + w[6], w7 = (K_vec){0} + w[7], w8 = (K_vec){0} + w[8];
  K_vec v0 = K_LOAD(a), v1 = K_LOAD(a + x1), v2 = K_LOAD(a + x2), s, top, mid;
  mid = bias + w0 * v0 + w1 * v1 + w2 * v2;
  a += step;
  v0 = K_LOAD(a), v1 = K_LOAD(a + x1), v2 = K_LOAD(a + x2);
  top = bias + w0 * v0 + w1 * v1 + w2 * v2;
  mid += w3 * v0 + w4 * v1 + w5 * v2;
  for (ptrdiff_t r = 0; r < rows; ++r, y += ldy) {
    a += step;
    v0 = K_LOAD(a), v1 = K_LOAD(a + x1), v2 = K_LOAD(a + x2);
    s = mid + (w6 * v0 + w7 * v1 + w8 * v2);
    mid = top + (w3 * v0 + w4 * v1 + w5 * v2);
    top = bias + w0 * v0 + w1 * v1 + w2 * v2;
    K_UNIT_ROW(y, s);
  }
}

// Columns of at most 32 rows: what neighbours share stays in the first-level cache.
static void K_depthwise_columns3(
    const K_plane_shape* p, const float* plane, const K_depthwise_filter* f, float* y) {
  const ptrdiff_t n = p->out_w, step = p->stride_h * p->stride_w * p->pitch;
  float t[32 * K_VW];
  for (ptrdiff_t r = 0; r < p->out_h; r += 32, plane += 32 * step, y += 32 * n) {
    const ptrdiff_t rows = p->out_h - r < 32 ? p->out_h - r : 32;
    if (n < K_VW) {
      K_depthwise_column3(p, step, plane, f, t, K_VW, rows);
      for (ptrdiff_t i = 0; i < rows; ++i) K_copy(y + i * n, t + i * K_VW, n);
      continue;
    }
    for (ptrdiff_t j = 0; j < n; j += K_VW) {
      const ptrdiff_t at = n - j >= K_VW ? j : n - K_VW;
      K_depthwise_column3(p, step, plane + at, f, y + at, n, rows);
    }
  }
}

// 3x3 taps of any stride, row by row, as large planes come from farther caches.
static void K_depthwise_rows3(
    const K_plane_shape* p, const float* plane, const K_depthwise_filter* f, float* y) {
  const ptrdiff_t n = p->out_w, step = p->stride_h * p->stride_w * p->pitch;
  const int* const tap = p->tap;
  const float* const w = f->w;
  const K_vec lo = (K_vec){0} + f->lo, hi = (K_vec){0} + f->hi, bias = (K_vec){0} + f->bias;
  const K_vec w0 = (K_vec){0} + w[0], w1 = (K_vec){0} + w[1], w2 = (K_vec){0} + w[2];
  const K_vec w3 = (K_vec){0} + w[3], w4 = (K_vec){0} + w[4], w5 = (K_vec){0} + w[5];
  const K_vec w6 = (K_vec){0} + w[6], w7 = (K_vec){0} + w[7], w8 = (K_vec){0} + w[8];
  for (ptrdiff_t r = 0; r < p->out_h; ++r, plane += step, y += n) {
    for (ptrdiff_t j = 0; j < n; j += K_VW) {
      const ptrdiff_t at = n - j >= K_VW ? j : n - K_VW;
      const float *a = plane + at, *b = a + tap[3], *c = a + tap[6];
      K_vec s = bias + w0 * K_LOAD(a) + w1 * K_LOAD(a + tap[1]) + w2 * K_LOAD(a + tap[2]);
      const K_vec u = w3 * K_LOAD(b) + w4 * K_LOAD(b + tap[1]) + w5 * K_LOAD(b + tap[2]);
      const K_vec v = w6 * K_LOAD(c) + w7 * K_LOAD(c + tap[1]) + w8 * K_LOAD(c + tap[2]);
      s += u + v;
      K_UNIT_ROW(y + at, s);
    }
  }
}
#endif

//@ piece depthwise: depthwise_units
//@ for Conv: depthwise, any window
static void K_depthwise_channel(
    const K_plane_shape* p, const float* plane, const K_depthwise_filter* f, float* y) {
  //@ when depthwise_windows
#if K_VW
  const int together = p->stride_h == p->dilation_h;
  if (together && p->kernel_h == 3 && p->kernel_w == 3) {
    K_depthwise_columns3(p, plane, f, y);
    return;
  }
  if (!together && p->kernel_h == 3 && p->kernel_w == 3 && p->apart == 0 && p->out_w >= K_VW) {
    K_depthwise_rows3(p, plane, f, y);
    return;
  }
  if (together && p->kernel_h == 5) {
    K_plane_units(p, plane, K_depthwise_units5, f, y);
    return;
  }
#endif
  //@ end
  K_plane_units(p, plane, K_depthwise_units, f, y);
}

static void K_depthwise(const K_plane_shape* p, const float* x, const float* w, const float* bias, float* y,
    float* planes, const K_epilogue* e) {
  const ptrdiff_t taps = p->kernel_h * p->kernel_w, pixels = p->out_h * p->out_w, n = p->batch * p->channels;
  ptrdiff_t at = 0;
  K_plane_fill(p, 0.0f, planes);
  for (ptrdiff_t i = 0; i < n; ++i, x += p->h * p->w) {
    const float* plane = K_plane_of(p, x, i, n, planes);
    for (ptrdiff_t k = 0; k < p->multiplier; ++k, at += pixels) {
      const ptrdiff_t c = i % p->channels * p->multiplier + k;
      const K_depthwise_filter f = {
          .w = w + c * taps, .bias = bias ? bias[c] : 0.0f, .lo = e->lo, .hi = e->hi};
      K_depthwise_channel(p, plane, &f, y + at);
      if (e->fn) e->fn(e->args, y + at, c, 0, at, pixels);
    }
  }
}

//@ piece pool_planes: plane_shape
//@ for AveragePool, MaxPool: two dimensions, float32, at most 64 taps, small planes
/* What windows are reduced to. */
enum { K_POOL_SUMS, K_POOL_MAXIMA, K_POOL_MAXIMA_OR_NAN };

#if K_VW
static inline K_vec K_larger_or_nan(K_vec v, K_vec w) {
  typedef int32_t words __attribute__((vector_size(K_VW * 4)));
  const words nan = (words)(v != v);
  return (K_vec)(((words)v & nan) | ((words)K_MAX(v, w) & ~nan));
}
#endif

/* Maxima, or sums, of windows. `with`: which. K_POOL_MAXIMA passes over NaN. */
static void K_pool_units(const K_plane_shape* p, ptrdiff_t step, const float* a, const float* b,
    const void* with, float* y0, float* y1, ptrdiff_t ldy) {
  const int *tap = p->tap, *const end = tap + p->kernel_h * p->kernel_w;
  const int kind = *(const int*)with, is_max = kind != K_POOL_SUMS;
#if K_VW
  K_vec s[8];
  for (int r = 0; r < 8; ++r) s[r] = (K_vec){0} + (is_max ? -INFINITY : 0.0f);
#define K_POOL_EACH(merge) \
  merge(0, a) merge(1, a) merge(2, a) merge(3, a) merge(4, b) merge(5, b) merge(6, b) merge(7, b)
#define K_POOL_MAX(r, from) s[r] = K_MAX(K_LOAD(from + *tap + r % 4 * step), s[r]);
#define K_POOL_NAN(r, from) s[r] = K_larger_or_nan(K_LOAD(from + *tap + r % 4 * step), s[r]);
#define K_POOL_ADD(r, from) s[r] += K_LOAD(from + *tap + r % 4 * step);
#define K_POOL_PUT(r, from) K_STORE((r < 4 ? y0 : y1) + r % 4 * ldy, s[r]);
  if (kind == K_POOL_MAXIMA) {
    for (; tap < end; ++tap) {
      K_POOL_EACH(K_POOL_MAX)
    }
  } else if (is_max) {
    for (; tap < end; ++tap) {
      K_POOL_EACH(K_POOL_NAN)
    }
  } else {
    for (; tap < end; ++tap) {
      K_POOL_EACH(K_POOL_ADD)
    }
  }
  K_POOL_EACH(K_POOL_PUT)
#else
  for (ptrdiff_t i = 0; i < 8 * K_UNIT_COLS; ++i) {
    const ptrdiff_t r = i / K_UNIT_COLS % 4, c = i % K_UNIT_COLS;
    const float* from = (i < 4 * K_UNIT_COLS ? a : b) + r * step + c;
    float s = is_max ? -INFINITY : 0.0f;
    for (const int* t = tap; t < end; ++t)
      s = !is_max ? s + from[*t] : from[*t] > s || from[*t] != from[*t] ? from[*t] : s;
    (i < 4 * K_UNIT_COLS ? y0 : y1)[r * ldy + c] = s;
  }
#endif
}

/* Is one of n numbers NaN? */
static int K_holds_nan(const float* x, ptrdiff_t n) {
  const float* const end = x + n;
  int32_t found = 0;
#if K_VW
  typedef int32_t words __attribute__((vector_size(K_VW * 4)));
  words a = {0}, b = {0};
  for (; end - x >= 2 * K_VW; x += 2 * K_VW) {
    const K_vec v = K_LOAD(x), w = K_LOAD(x + K_VW);
    a |= (words)(v != v);
    b |= (words)(w != w);
  }
  a |= b;
  for (int k = 0; k < K_VW; ++k) found |= a[k];
#endif
  for (; x < end; ++x) found |= *x != *x;
  return found != 0;
}

// The kernel that keeps NaN takes longer than looking for one first.
static void K_pool_planes(const K_plane_shape* p, int is_max, const float* x, float* y, float* planes) {
  const ptrdiff_t n = p->batch * p->channels;
  K_plane_fill(p, is_max ? -INFINITY : 0.0f, planes);
  for (ptrdiff_t i = 0; i < n; ++i, x += p->h * p->w, y += p->out_h * p->out_w) {
    const int kind = !is_max                       ? K_POOL_SUMS
                     : K_holds_nan(x, p->h * p->w) ? K_POOL_MAXIMA_OR_NAN
                                                   : K_POOL_MAXIMA;
    K_plane_units(p, K_plane_of(p, x, i, n, planes), K_pool_units, &kind, y);
  }
}
