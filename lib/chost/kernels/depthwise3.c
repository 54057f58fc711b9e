//@ piece depthwise3: epilogue clamp lanes
//@ for Conv: depthwise, 3x3 of stride 1 or 2 without dilation, rows of 8 results or more
/* Depthwise 3x3 windows of stride 1 or 2 whose middle taps always lie within the image: rows are read where
 * they are, and what lies left or right of them is masked. */
// The channels at both ends are copied first, so that nothing beyond the image is read.
typedef struct K_depthwise3_shape {
  ptrdiff_t batch, channels, multiplier, h, w, out_h, out_w, stride, top, left;
} K_depthwise3_shape;

#if K_VW
// K_VW results of a row are sums of three vectors of each row of taps, the first and the last of them
// masked.
// Masks of K_VW elements: without the first, all, without the last.
#if K_VW == 8
static const int K_within[K_VW + 2] = {0, -1, -1, -1, -1, -1, -1, -1, -1, 0};
#else
static const int K_within[K_VW + 2] = {0, -1, -1, -1, -1, 0};
#endif
#define K_MASKED(v, m) ((K_vec)((K_pick)(v) & (K_pick)(m)))
#define K_TAPS3(p) \
  if (stride == 1) { \
    a = K_LOAD(p), b = K_LOAD((p) + 1), c = K_LOAD((p) + 2); \
  } else { \
    const K_vec q = K_LOAD(p), z = K_LOAD((p) + K_VW), o = K_LOAD((p) + 2); \
    a = K_EVENS(q, z), b = K_ODDS(q, z), c = K_LOAD((p) + K_VW + 2); \
    c = K_EVENS(o, c); \
  } \
  a = K_MASKED(a, first), c = K_MASKED(c, last);
#define K_ROW3(s, k) s += k##0 * a, s += k##1 * b, s += k##2 * c

// `rows` rows of results from the one on whose first row of taps is `above`, in columns of K_VW results, of
// which the last one overlaps the one before.
static void K_depthwise3_rows(const K_depthwise3_shape* p, const float* x, const float* w, float bias,
    const K_epilogue* e, ptrdiff_t above, ptrdiff_t rows, float* y) {
  const ptrdiff_t stride = p->stride, width = p->w, n = p->out_w;
  const K_vec lo = (K_vec){0} + e->lo, hi = (K_vec){0} + e->hi, zero = (K_vec){0} + bias;
  const K_vec u0 = (K_vec){0} + w[0], u1 = (K_vec){0} + w[1], u2 = (K_vec){0} + w[2];
  const K_vec v0 = (K_vec){0} + w[3], v1 = (K_vec){0} + w[4], v2 = (K_vec){0} + w[5];
  const K_vec w0 = (K_vec){0} + w[6], w1 = (K_vec){0} + w[7], w2 = (K_vec){0} + w[8];
  for (ptrdiff_t column = 0; column < n; column += K_VW) {
    const ptrdiff_t j = column + K_VW < n ? column : n - K_VW, ix = j * stride - p->left;
    const int cut = (j + K_VW - 1) * stride - p->left + 2 >= width;
    const K_vec first = K_LOAD(K_within + (ix >= 0)), last = K_LOAD(K_within + (cut ? 2 : 1));
    const float* from = x + above * width + ix;
    K_vec a, b, c, s, mid = zero, next = zero;
    if (above >= 0) {
      K_TAPS3(from)
      K_ROW3(mid, u);
    }
    if (stride == 1) {
      from += width;
      K_TAPS3(from)
      K_ROW3(mid, v);
      K_ROW3(next, u);
    }
    for (ptrdiff_t i = 0; i < rows; ++i) {
      s = mid;
      if (stride == 2) {
        from += width;
        K_TAPS3(from)
        K_ROW3(s, v);
      }
      mid = next;
      if (above + i * stride + 2 < p->h) {
        from += width;
        K_TAPS3(from)
        K_ROW3(s, w);
        if (stride == 1) {
          K_ROW3(mid, v);
          next = zero, K_ROW3(next, u);
        } else {
          K_ROW3(mid, u);
        }
      }
      s = K_MAX(lo, s), s = K_MIN(hi, s);
      K_STORE(y + i * n + j, s);
    }
  }
}

// At most 32 rows at once: what neighbours share stays in the first-level cache.
static void K_depthwise3_channel(
    const K_depthwise3_shape* p, const float* x, const float* w, float bias, const K_epilogue* e, float* y) {
  for (ptrdiff_t r = 0; r < p->out_h; r += 32) {
    const ptrdiff_t left = p->out_h - r;
    K_depthwise3_rows(p, x, w, bias, e, r * p->stride - p->top, left < 32 ? left : 32, y + r * p->out_w);
  }
}
#else
static void K_depthwise3_channel(
    const K_depthwise3_shape* p, const float* x, const float* w, float bias, const K_epilogue* e, float* y) {
  for (ptrdiff_t i = 0; i < p->out_h * p->out_w; ++i) {
    const ptrdiff_t iy = i / p->out_w * p->stride - p->top, ix = i % p->out_w * p->stride - p->left;
    const ptrdiff_t first = iy < 0 ? 1 : 0, past = iy + 2 < p->h ? 3 : 2;
    const int has_left = ix >= 0, has_right = ix + 2 < p->w;
    float s = bias;
    for (ptrdiff_t k = first; k < past; ++k) {
      const float *from = x + (iy + k) * p->w + ix, *v = w + 3 * k;
      s += v[1] * from[1];
      if (has_left) s += v[0] * from[0];
      if (has_right) s += v[2] * from[2];
    }
    s = s < e->lo ? e->lo : s;
    y[i] = s > e->hi ? e->hi : s;
  }
}
#endif

static void K_depthwise3(const K_depthwise3_shape* p, const float* x, const float* w, const float* bias,
    float* y, float* copy, const K_epilogue* e) {
  const ptrdiff_t plane = p->h * p->w, pixels = p->out_h * p->out_w, n = p->batch * p->channels;
  ptrdiff_t at = 0;
  for (ptrdiff_t i = 0; i < n; ++i, x += plane) {
    const int ends = i == 0 || i + 1 == n;
    if (ends) memcpy(copy + 8, x, (size_t)plane * sizeof(float));
    for (ptrdiff_t k = 0; k < p->multiplier; ++k, at += pixels) {
      const ptrdiff_t c = i % p->channels * p->multiplier + k;
      K_depthwise3_channel(p, ends ? copy + 8 : x, w + 9 * c, bias ? bias[c] : 0.0f, e, y + at);
      if (e->fn) e->fn(e->args, y + at, c, 0, at, pixels);
    }
  }
}
