//@ piece depthwise: epilogue clamp copy
/* Depthwise convolution. A channel is copied with its padding, its columns sorted by their phase modulo the
 * stride, so that every tap reads consecutive elements: plane[row][phase][column], `pitch` columns in each
 * phase. */
typedef struct K_depthwise_shape {
  ptrdiff_t batch, channels, multiplier, h, w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w;
  ptrdiff_t dilation_h, dilation_w, pad_h, pad_w, rows, pitch;
  const int* tap; /* of each tap, the offset from the plane's element for output column 0 */
} K_depthwise_shape;

/* Copies a channel into its plane. The rest of the plane is padding: zeros for every channel. */
static void K_depthwise_plane(const K_depthwise_shape* p, const float* x, float* plane) {
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

/* 16 outputs of one row, any kernel. */
static void K_depthwise_span(const K_depthwise_shape* p, const float* plane, const float* w, float bias,
                             float* t) {
  const ptrdiff_t taps = p->kernel_h * p->kernel_w;
#if K_VW
  for (ptrdiff_t j = 0; j < K_LANES; j += 2 * K_VW) {
    K_vec s0 = (K_vec){0} + bias, s1 = s0, u0 = {0}, u1 = {0}; /* two sums of a vector, as sums wait */
    for (ptrdiff_t i = 0; i + 1 < taps; i += 2) {
      const float *b = plane + p->tap[i] + j, *c = plane + p->tap[i + 1] + j;
      s0 += w[i] * K_LOAD(b);
      s1 += w[i] * K_LOAD(b + K_VW);
      u0 += w[i + 1] * K_LOAD(c);
      u1 += w[i + 1] * K_LOAD(c + K_VW);
    }
    if (taps % 2 != 0) {
      const float* b = plane + p->tap[taps - 1] + j;
      s0 += w[taps - 1] * K_LOAD(b);
      s1 += w[taps - 1] * K_LOAD(b + K_VW);
    }
    K_STORE(t + j, s0 + u0);
    K_STORE(t + j + K_VW, s1 + u1);
  }
#else
  for (ptrdiff_t j = 0; j < K_LANES; ++j) t[j] = bias;
  for (ptrdiff_t i = 0; i < taps; ++i) {
    for (ptrdiff_t j = 0; j < K_LANES; ++j) t[j] += w[i] * plane[p->tap[i] + j];
  }
#endif
}

static void K_depthwise_row(const K_depthwise_shape* p, const float* plane, const float* w, float bias,
                            float lo, float hi, float* y, ptrdiff_t n) {
  for (ptrdiff_t j0 = 0; j0 < n; j0 += K_LANES) {
    const ptrdiff_t cols = n - j0 < K_LANES ? n - j0 : K_LANES;
    float t[K_LANES];
    K_depthwise_span(p, plane + j0, w, bias, t);
    for (ptrdiff_t j = 0; j < K_LANES; ++j) t[j] = t[j] < lo ? lo : t[j];
    for (ptrdiff_t j = 0; j < K_LANES; ++j) t[j] = t[j] > hi ? hi : t[j];
    for (ptrdiff_t j = 0; j < cols; ++j) y[j0 + j] = t[j];
  }
}

#if K_VW
/* The common 3x3 without dilation, `rows` rows of n: x1 and x2 are the offsets of the second and third tap.
 * The last vector of a row overlaps the one before it. A row that is shorter than a vector is stored with
 * what is behind it, which the next row replaces, as far as `room` allows. */
static void K_depthwise_rows3(const float* b, ptrdiff_t step, ptrdiff_t line, ptrdiff_t x1, ptrdiff_t x2,
                              const float* w, float bias, float lo, float hi, float* y, ptrdiff_t rows,
                              ptrdiff_t n, ptrdiff_t room) {
  const K_vec vlo = (K_vec){0} + lo, vhi = (K_vec){0} + hi, vbias = (K_vec){0} + bias;
  const K_vec w0 = (K_vec){0} + w[0], w1 = (K_vec){0} + w[1], w2 = (K_vec){0} + w[2];
  const K_vec w3 = (K_vec){0} + w[3], w4 = (K_vec){0} + w[4], w5 = (K_vec){0} + w[5];
  const K_vec w6 = (K_vec){0} + w[6], w7 = (K_vec){0} + w[7], w8 = (K_vec){0} + w[8];
  for (ptrdiff_t r = 0; r < rows; ++r, b += step, y += n, room -= n) {
    for (ptrdiff_t j = 0; j < n; j += K_VW) {
      const ptrdiff_t at = n - j >= K_VW || n < K_VW ? j : n - K_VW;
      const float *b0 = b + at, *b1 = b0 + line, *b2 = b1 + line;
      K_vec s0 = vbias + w0 * K_LOAD(b0), s1 = w3 * K_LOAD(b1), s2 = w6 * K_LOAD(b2);
      s0 += w1 * K_LOAD(b0 + x1);
      s1 += w4 * K_LOAD(b1 + x1);
      s2 += w7 * K_LOAD(b2 + x1);
      s0 += w2 * K_LOAD(b0 + x2);
      s1 += w5 * K_LOAD(b1 + x2);
      s2 += w8 * K_LOAD(b2 + x2);
      s0 += s1 + s2;
      s0 = K_MAX(vlo, s0);
      s0 = K_MIN(vhi, s0);
      if (n >= K_VW || room >= K_VW) {
        K_STORE(y + at, s0);
      } else {
        float t[K_VW];
        K_STORE(t, s0);
        for (ptrdiff_t i = 0; i < n; ++i) y[i] = t[i];
      }
    }
  }
}
#endif

/* All rows of one channel of the result, the first at y; `room`: elements from y on that may be written. */
static void K_depthwise_channel(const K_depthwise_shape* p, const float* plane, const float* w, float bias,
                                const K_epilogue* e, float* y, ptrdiff_t room) {
  const ptrdiff_t step = p->stride_h * p->stride_w * p->pitch;
#if K_VW
  if (p->kernel_h == 3 && p->kernel_w == 3 && p->dilation_w == 1 && p->dilation_h == 1) {
    const ptrdiff_t x1 = p->stride_w == 1 ? 1 : p->pitch;
    const ptrdiff_t x2 = p->stride_w == 1 ? 2 : p->stride_w == 2 ? 1 : 2 * p->pitch;
    K_depthwise_rows3(plane, step, p->stride_w * p->pitch, x1, x2, w, bias, e->lo, e->hi, y, p->out_h,
                      p->out_w, room);
    return;
  }
#endif
  (void)room;
  for (ptrdiff_t oy = 0; oy < p->out_h; ++oy, plane += step, y += p->out_w) {
    K_depthwise_row(p, plane, w, bias, e->lo, e->hi, y, p->out_w);
  }
}

static void K_depthwise(const K_depthwise_shape* p, const float* x, const float* w, const float* bias,
                        float* y, float* plane, const K_epilogue* e) {
  const ptrdiff_t out_channels = p->channels * p->multiplier, taps = p->kernel_h * p->kernel_w;
  const ptrdiff_t pixels = p->out_h * p->out_w, end = p->batch * out_channels;
  ptrdiff_t at = 0;
  for (ptrdiff_t i = 0; i < p->rows * p->stride_w * p->pitch; ++i) plane[i] = 0.0f;
  for (ptrdiff_t i = 0; i < end; ++i, at += pixels) {
    const ptrdiff_t c = i % out_channels;
    if (i % p->multiplier == 0) {
      K_depthwise_plane(p, x, plane);
      x += p->h * p->w;
    }
    K_depthwise_channel(p, plane, w + c * taps, bias ? bias[c] : 0.0f, e, y + at, (end - i) * pixels);
    if (e->fn) e->fn(e->args, y + at, c, 0, at, pixels);
  }
}
