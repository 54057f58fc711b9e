//@ piece depthwise: epilogue clamp
/* Depthwise convolution. A channel is copied with its padding, its columns sorted by their phase modulo the
 * stride, so that every tap reads consecutive elements: plane[row][phase][column], `pitch` columns in each
 * phase. */
typedef struct K_depthwise_shape {
  ptrdiff_t batch, channels, multiplier, h, w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w;
  ptrdiff_t dilation_h, dilation_w, pad_h, pad_w, rows, pitch;
  const int* tap; /* of each tap, the offset from the plane's element for output column 0 */
} K_depthwise_shape;

static void K_depthwise_plane(const K_depthwise_shape* p, const float* x, float* plane) {
  for (ptrdiff_t r = 0; r < p->rows; ++r) {
    const ptrdiff_t iy = r - p->pad_h;
    for (ptrdiff_t q = 0; q < p->stride_w; ++q, plane += p->pitch) {
      ptrdiff_t lo = p->pitch, hi = p->pitch;
      if (iy >= 0 && iy < p->h) {
        const ptrdiff_t first = p->pad_w - q, last = p->w + p->pad_w - q;
        lo = first <= 0 ? 0 : (first + p->stride_w - 1) / p->stride_w;
        hi = last <= 0 ? 0 : (last + p->stride_w - 1) / p->stride_w;
        lo = lo > p->pitch ? p->pitch : lo;
        hi = hi > p->pitch ? p->pitch : hi < lo ? lo : hi;
      }
      for (ptrdiff_t i = 0; i < lo; ++i) plane[i] = 0.0f;
      if (hi > lo) {
        const float* s = x + (iy * p->w + lo * p->stride_w + q - p->pad_w);
        float* to = plane + lo;
        if (p->stride_w == 1) {
          memcpy(to, s, (size_t)(hi - lo) * sizeof(float));
        } else if (p->stride_w == 2) {
          for (ptrdiff_t i = 0; i < hi - lo; ++i) to[i] = s[2 * i];
        } else {
          for (ptrdiff_t i = 0; i < hi - lo; ++i) to[i] = s[i * p->stride_w];
        }
      }
      for (ptrdiff_t i = hi; i < p->pitch; ++i) plane[i] = 0.0f;
    }
  }
}

/* 16 outputs of one row, any kernel. */
static void K_depthwise_span(const K_depthwise_shape* p, const float* plane, const float* w, float bias,
                             float* t) {
  const ptrdiff_t taps = p->kernel_h * p->kernel_w;
#if K_VW
  for (ptrdiff_t j = 0; j < K_LANES; j += 2 * K_VW) {
    K_vec s0 = (K_vec){0} + bias, s1 = s0;
    for (ptrdiff_t i = 0; i < taps; ++i) {
      const float* b = plane + p->tap[i] + j;
      s0 += w[i] * K_LOAD(b);
      s1 += w[i] * K_LOAD(b + K_VW);
    }
    K_STORE(t + j, s0);
    K_STORE(t + j + K_VW, s1);
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
/* The common 3x3 without dilation: x1 and x2 are the offsets of the second and third tap. */
static void K_depthwise_row3(const float* b, ptrdiff_t line, ptrdiff_t x1, ptrdiff_t x2, const float* w,
                             float bias, float lo, float hi, float* y, ptrdiff_t n) {
  const K_vec vlo = (K_vec){0} + lo, vhi = (K_vec){0} + hi;
  for (ptrdiff_t j = 0; j < n; j += K_VW, b += K_VW) {
    const float *b1 = b + line, *b2 = b1 + line;
    K_vec s0 = (K_vec){0} + bias, s1 = w[3] * K_LOAD(b1), s2 = w[6] * K_LOAD(b2);
    s0 += w[0] * K_LOAD(b);
    s0 += w[1] * K_LOAD(b + x1);
    s0 += w[2] * K_LOAD(b + x2);
    s1 += w[4] * K_LOAD(b1 + x1);
    s1 += w[5] * K_LOAD(b1 + x2);
    s2 += w[7] * K_LOAD(b2 + x1);
    s2 += w[8] * K_LOAD(b2 + x2);
    s0 += s1 + s2;
    s0 = K_MAX(vlo, s0);
    s0 = K_MIN(vhi, s0);
    if (n - j >= K_VW) {
      K_STORE(y + j, s0);
    } else {
      float t[K_VW];
      K_STORE(t, s0);
      for (ptrdiff_t i = 0; i < n - j; ++i) y[j + i] = t[i];
    }
  }
}
#endif

static void K_depthwise(const K_depthwise_shape* p, const float* x, const float* w, const float* bias,
                        float* y, float* plane, const K_epilogue* e) {
  const ptrdiff_t out_channels = p->channels * p->multiplier, taps = p->kernel_h * p->kernel_w;
#if K_VW
  const int three = taps == 9 && p->kernel_h == 3 && p->dilation_w == 1 && p->dilation_h == 1;
  const ptrdiff_t x1 = p->stride_w == 1 ? 1 : p->pitch;
  const ptrdiff_t x2 = p->stride_w == 1 ? 2 : p->stride_w == 2 ? 1 : 2 * p->pitch;
#endif
  ptrdiff_t at = 0;
  for (ptrdiff_t i = 0; i < p->batch * out_channels; ++i) {
    const ptrdiff_t c = i % out_channels;
    const float* tap = w + c * taps;
    const float b = bias ? bias[c] : 0.0f;
    if (i % p->multiplier == 0) {
      K_depthwise_plane(p, x, plane);
      x += p->h * p->w;
    }
    for (ptrdiff_t oy = 0; oy < p->out_h; ++oy, at += p->out_w) {
      const float* row = plane + oy * p->stride_h * p->stride_w * p->pitch;
#if K_VW
      if (three) {
        K_depthwise_row3(row, p->stride_w * p->pitch, x1, x2, tap, b, e->lo, e->hi, y + at, p->out_w);
      } else {
        K_depthwise_row(p, row, tap, b, e->lo, e->hi, y + at, p->out_w);
      }
#else
      K_depthwise_row(p, row, tap, b, e->lo, e->hi, y + at, p->out_w);
#endif
      if (e->fn) e->fn(e->args, y + at, c, oy * p->out_w, at, p->out_w);
    }
  }
}
