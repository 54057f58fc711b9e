//@ piece depthwise_lanes: epilogue clamp lanes
//@ for Conv: depthwise, eight channels or more whose rows do not fill vectors
/* Depthwise windows over channels so small that their rows do not fill vectors: K_SOME channels side by side,
 * element by element, in a padded plane[row][column][K_SOME]. */
// Eight channels share w[tap][8]; the last eight begin at channels - 8, so that some may be computed
// twice.
typedef struct K_lanes_shape {
  ptrdiff_t batch, channels, h, w, out_h, out_w, stride_h, stride_w, pad_h, pad_w, rows, cols, taps;
  const int* tap; /* of each tap, elements from the first one's in the plane */
} K_lanes_shape;

// to[column][row] = from[row][column] for K_SOME x K_SOME elements.
static void K_turn(const float* from, ptrdiff_t ld_from, float* const* to) {
#if K_VW == 8
#define K_ROW(r) K_LOAD(from + (r)*ld_from)
#define K_PAIRS(a, b) K_PICK(a, b, 0, 8, 1, 9, 4, 12, 5, 13), K_PICK(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
  const K_vec a[8] = {K_PAIRS(K_ROW(0), K_ROW(2)), K_PAIRS(K_ROW(1), K_ROW(3)), K_PAIRS(K_ROW(4), K_ROW(6)),
      K_PAIRS(K_ROW(5), K_ROW(7))};
  const K_vec b[8] = {K_PAIRS(a[0], a[2]), K_PAIRS(a[1], a[3]), K_PAIRS(a[4], a[6]), K_PAIRS(a[5], a[7])};
  for (int i = 0; i < 4; ++i) {
    K_STORE(to[i], K_PICK(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11));
    K_STORE(to[i + 4], K_PICK(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
  }
#undef K_ROW
#undef K_PAIRS
#elif K_VW == 4
  const K_vec a = K_LOAD(from), b = K_LOAD(from + ld_from), c = K_LOAD(from + 2 * ld_from);
  const K_vec d = K_LOAD(from + 3 * ld_from), e = K_LOWER(a, c), f = K_LOWER(b, d), g = K_UPPER(a, c);
  const K_vec h = K_UPPER(b, d);
  K_STORE(to[0], K_LOWER(e, f));
  K_STORE(to[1], K_UPPER(e, f));
  K_STORE(to[2], K_LOWER(g, h));
  K_STORE(to[3], K_UPPER(g, h));
#else
  (void)ld_from;
  *to[0] = *from;
#endif
}

// The planes of K_SOME channels from x on; what is around them is zero already.
static void K_lanes_in(const K_lanes_shape* p, const float* x, const int* at, float* plane) {
  const ptrdiff_t n = p->h * p->w;
  for (ptrdiff_t i = 0; i < n; i += K_SOME) {
    const ptrdiff_t first = i + K_SOME <= n ? i : n - K_SOME;
    float* to[K_SOME];
    for (ptrdiff_t j = 0; j < K_SOME; ++j) to[j] = plane + at[first + j] * K_SOME;
    K_turn(x + first, n, to);
  }
}

static void K_lanes_out(const float* from, ptrdiff_t n, float* y) {
  for (ptrdiff_t i = 0; n >= K_SOME && i < n; i += K_SOME) {
    const ptrdiff_t first = i + K_SOME <= n ? i : n - K_SOME;
    float* to[K_SOME];
    for (ptrdiff_t j = 0; j < K_SOME; ++j) to[j] = y + j * n + first;
    K_turn(from + first * K_SOME, K_SOME, to);
  }
  for (ptrdiff_t i = 0; n < K_SOME && i < n * K_SOME; ++i) y[i % K_SOME * n + i / K_SOME] = from[i];
}

// Results out[pixel][K_SOME], four pixels at a time.
static void K_lanes_sums(const K_lanes_shape* p, const float* plane, const int* base, const float* w,
    K_some bias, const K_epilogue* e, float* out) {
  const ptrdiff_t n = p->out_h * p->out_w;
  const K_some lo = (K_some){0} + e->lo, hi = (K_some){0} + e->hi;
  for (ptrdiff_t i = 0; i < n; i += 4) {
    const ptrdiff_t j = i + 4 <= n ? i : n > 4 ? n - 4 : 0, last = n - 1;
    const float *a = plane + base[j] * K_SOME, *b = plane + base[j + 1 < last ? j + 1 : last] * K_SOME;
    const float* c = plane + base[j + 2 < last ? j + 2 : last] * K_SOME;
    const float* d = plane + base[j + 3 < last ? j + 3 : last] * K_SOME;
    K_some s = bias, t = bias, u = bias, v = bias;
    for (ptrdiff_t k = 0; k < p->taps; ++k) {
      const K_some f = K_GET(w + 8 * k);
      const ptrdiff_t to = p->tap[k] * K_SOME;
      s += f * K_GET(a + to), t += f * K_GET(b + to), u += f * K_GET(c + to), v += f * K_GET(d + to);
    }
    K_CLAMP(s, lo, hi), K_CLAMP(t, lo, hi), K_CLAMP(u, lo, hi), K_CLAMP(v, lo, hi);
    K_PUT(out + j * K_SOME, s);
    K_PUT(out + (j + 1) * K_SOME, t);
    K_PUT(out + (j + 2) * K_SOME, u);
    K_PUT(out + (j + 3) * K_SOME, v);
  }
}

static void K_depthwise_lanes(const K_lanes_shape* p, const float* x, const float* w, const float* bias,
    float* y, float* plane, const K_epilogue* e) {
  const ptrdiff_t n = p->h * p->w, pixels = p->out_h * p->out_w, size = p->rows * p->cols * K_SOME;
  float* const out = plane + size;
  int *const at = (int*)(void*)(out + (pixels < 4 ? 4 : pixels) * K_SOME), *const base = at + n;
  for (ptrdiff_t i = 0; i < n; ++i) at[i] = (int)((i / p->w + p->pad_h) * p->cols + i % p->w + p->pad_w);
  for (ptrdiff_t i = 0; i < pixels; ++i)
    base[i] = (int)(i / p->out_w * p->stride_h * p->cols + i % p->out_w * p->stride_w);
  memset(plane, 0, (size_t)size * sizeof(float));
  for (ptrdiff_t i = 0; i < p->batch; ++i, x += p->channels * n, y += p->channels * pixels) {
    const float* own = w;
    for (ptrdiff_t g = 0; g < p->channels; g += 8, own += 8 * p->taps) {
      const ptrdiff_t first = g + 8 <= p->channels ? g : p->channels - 8;
      for (ptrdiff_t c = first; c < first + 8; c += K_SOME) {
        float* const to = y + c * pixels;
        K_some start = {0};
        if (bias) start = K_GET(bias + c);
        K_lanes_in(p, x + c * n, at, plane);
        K_lanes_sums(p, plane, base, own + c - first, start, e, out);
        K_lanes_out(out, pixels, to);
        for (ptrdiff_t k = 0; e->fn && k < K_SOME; ++k)
          e->fn(e->args, to + k * pixels, c + k, 0, (i * p->channels + c + k) * pixels, pixels);
      }
    }
  }
}
