//@ piece integer_depthwise: quads copy_bytes requantize dot
/* Depthwise convolution of bytes. A channel becomes a plane of quads, four taps of a row of the kernel each:
 * plane[group of taps][phase of row][row][column of the output], padding included. Rows are as wide as those
 * of the output and sorted by phase modulo the stride, so that every tap of all pixels is one run. */
typedef struct K_integer_depthwise_shape {
  ptrdiff_t batch, channels, multiplier, h, w, out_h, out_w, kernel_h, groups, stride_h, stride_w;
  ptrdiff_t pad_h, pad_w, rows, phase, pitch; /* phase: quads of one; pitch: bytes of a phase of a line */
  const int *column, *tap; /* offsets: of columns in a line, four a group; of taps in the plane */
  uint32_t flip;
  int outside;
} K_integer_depthwise_shape;

/* A row of the image as a line of bytes, columns sorted by phase; its padding is there already. */
static void K_integer_line(const K_integer_depthwise_shape* p, const uint8_t* x, uint8_t* line) {
  const ptrdiff_t s = p->stride_w;
  for (ptrdiff_t q = 0; q < s; ++q, line += p->pitch) {
    const ptrdiff_t first = p->pad_w - q, last = p->w + p->pad_w - q;
    const ptrdiff_t lo = first <= 0 ? 0 : (first + s - 1) / s;
    ptrdiff_t hi = last <= 0 ? 0 : (last + s - 1) / s;
    hi = hi < p->pitch ? hi : p->pitch;
    if (hi > lo) K_copy_every(line + lo, x + (lo * s - first), s, hi - lo);
  }
}

/* Quads are made 16 at a time: what is too much the next row replaces, and behind a phase there is room. */
static void K_integer_plane(const K_integer_depthwise_shape* p, const uint8_t* x, uint8_t* line,
                            uint32_t* plane) {
  const ptrdiff_t wide = (p->out_w + 15) / 16 * 16;
  const uint32_t none = (uint32_t)p->outside * 0x01010101u ^ p->flip;
  for (ptrdiff_t r = 0; r < p->rows; ++r) {
    const ptrdiff_t iy = r - p->pad_h;
    uint32_t* to = plane + r % p->stride_h * p->phase + r / p->stride_h * p->out_w;
    const int inside = iy >= 0 && iy < p->h;
    if (inside) K_integer_line(p, x + iy * p->w, line);
    for (ptrdiff_t g = 0; g < p->groups; ++g, to += p->stride_h * p->phase) {
      const int* c = p->column + 4 * g;
      if (inside) {
        K_quads(line + c[0], line + c[1], line + c[2], line + c[3], wide, p->flip, to);
      } else {
        for (ptrdiff_t j = 0; j < p->out_w; ++j) to[j] = none;
      }
    }
  }
}

/* K_QTILE sums from pixel `plane` on. */
static void K_integer_span(const K_integer_depthwise_shape* p, const uint32_t* plane, const uint32_t* w,
                           uint32_t* t) {
  const ptrdiff_t taps = p->kernel_h * p->groups;
#if K_QVW
  for (ptrdiff_t j = 0; j < K_QTILE; j += 2 * K_QVW) {
    K_qv s = {0}, u = {0};
    for (ptrdiff_t i = 0; i < taps; ++i) {
      const uint32_t* const b = plane + p->tap[i] + j;
      K_QW(v, K_QALL(w[i]));
      K_QX(x, K_QLOAD(b));
      K_QX(y, K_QLOAD(b + K_QVW));
      K_QSUM(s, x, v);
      K_QSUM(u, y, v);
    }
    K_QSTORE(t + j, s);
    K_QSTORE(t + j + K_QVW, u);
  }
#else
  for (ptrdiff_t j = 0; j < K_QTILE; ++j) {
    t[j] = 0;
    for (ptrdiff_t i = 0; i < taps; ++i) t[j] = K_quad(t[j], plane[p->tap[i] + j], w[i]);
  }
#endif
}

/* Less the weights' zero point times the sums of what they meet. */
static void K_integer_centre(const K_integer_depthwise_shape* p, const uint32_t* plane, uint32_t centre,
                             uint32_t* t) {
  for (ptrdiff_t i = 0; i < p->kernel_h * p->groups; ++i) {
    const uint32_t* const b = plane + p->tap[i];
    for (ptrdiff_t j = 0; j < K_QTILE; ++j)
      t[j] -= centre * ((b[j] & 255u) + (b[j] >> 8 & 255u) + (b[j] >> 16 & 255u) + (b[j] >> 24));
  }
}

static void K_integer_channel(const K_integer_depthwise_shape* p, const K_scales* e, ptrdiff_t c,
                              const uint32_t* w, const uint32_t* plane, void* y, ptrdiff_t at) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  const uint32_t bias = e->bias[c];
  for (ptrdiff_t p0 = 0; p0 < pixels; p0 += K_QTILE) {
    const ptrdiff_t n = pixels - p0 < K_QTILE ? pixels - p0 : K_QTILE;
    uint32_t t[K_QTILE];
    uint8_t z[K_QTILE];
    K_integer_span(p, plane + p0, w, t);
    if (e->centre) K_integer_centre(p, plane + p0, e->centre[c], t);
    for (ptrdiff_t j = 0; j < K_QTILE; ++j) t[j] += bias;
    if (!e->scale) {
      memcpy((uint32_t*)y + at + p0, t, (size_t)n * sizeof *t);
      continue;
    }
    const float scale = e->scale[c];
    for (ptrdiff_t j = 0; j < K_QTILE; ++j) z[j] = K_rounded(t[j], scale, e->lo, e->hi, e->zero);
    if (n == K_QTILE) {
      memcpy((uint8_t*)y + at + p0, z, K_QTILE);
    } else {
      for (ptrdiff_t j = 0; j < n; ++j) ((uint8_t*)y)[at + p0 + j] = z[j];
    }
  }
}

static void K_integer_depthwise(const K_integer_depthwise_shape* p, const void* x, const void* w, void* y,
                                void* scratch, const K_scales* e) {
  const ptrdiff_t channels = p->channels * p->multiplier, pixels = p->out_h * p->out_w;
  const ptrdiff_t size = p->groups * p->stride_h * p->phase + K_QTILE;
  uint32_t* const plane = (uint32_t*)scratch;
  uint8_t* const line = (uint8_t*)(plane + size);
  memset(line, p->outside, (size_t)(p->stride_w * p->pitch));
  for (ptrdiff_t i = 0; i < p->batch * channels; ++i) {
    const ptrdiff_t c = i % channels;
    if (i % p->multiplier == 0)
      K_integer_plane(p, (const uint8_t*)x + i / p->multiplier * p->h * p->w, line, plane);
    K_integer_channel(p, e, c, (const uint32_t*)w + c * p->kernel_h * p->groups, plane, y, i * pixels);
  }
}
