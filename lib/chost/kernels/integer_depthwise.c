//@ piece integer_depthwise: quads copy_bytes requantize
//@ for QLinearConv, ConvInteger: depthwise, constant weights
/* Depthwise convolution of bytes. */
// A channel is copied with its padding, its rows and columns sorted by phase modulo the strides:
// lines[phase of row][phase of column][row][pitch]. Four taps of a row of the kernel become quads of all
// its pixels, quads[group of taps][phase of row][row][pitch], so that every tap of the whole channel is
// one run, with some columns too many at the end of each row.
typedef struct K_integer_depthwise_shape {
  ptrdiff_t batch, channels, multiplier, h, w, out_h, out_w, kernel_h, groups, stride_h, stride_w;
  ptrdiff_t pad_h, pad_w, pitch, phase; /* phase: elements of one */
  const int *column, *tap; /* offsets of taps: in lines, four a group; in quads */
  uint32_t flip;
  int outside;
} K_integer_depthwise_shape;

static void K_integer_lines(const K_integer_depthwise_shape* p, const uint8_t* x, uint8_t* lines) {
  const ptrdiff_t s = p->stride_w, rows = p->phase / p->pitch;
  for (ptrdiff_t q = 0; q < s; ++q, lines += p->phase) {
    const ptrdiff_t first = p->pad_w - q, last = p->w + p->pad_w - q;
    const ptrdiff_t lo = first <= 0 ? 0 : (first + s - 1) / s;
    ptrdiff_t hi = last <= 0 ? 0 : (last + s - 1) / s;
    hi = hi < p->pitch ? hi : p->pitch;
    if (hi <= lo) continue;
    const uint8_t* from = x + (lo * s - first);
    ptrdiff_t a = p->pad_h % p->stride_h, r = p->pad_h / p->stride_h;
    for (ptrdiff_t y = 0; y < p->h && r < rows; ++y, from += p->w) {
      K_copy_every(lines + a * s * p->phase + r * p->pitch + lo, from, s, hi - lo);
      if (++a < p->stride_h) continue;
      a = 0;
      ++r;
    }
  }
}

// Quads are made 16 at a time: what is too much the next phase replaces, and behind the last there is room.
static void K_integer_taps(const K_integer_depthwise_shape* p, const uint8_t* lines, uint32_t* quads) {
  const ptrdiff_t whole = (p->phase + 15) / 16 * 16;
  for (ptrdiff_t g = 0; g < p->groups; ++g) {
    const int* const c = p->column + 4 * g;
    for (ptrdiff_t a = 0; a < p->stride_h; ++a, quads += p->phase) {
      const uint8_t* const from = lines + a * p->stride_w * p->phase;
      K_quads(from + c[0], from + c[1], from + c[2], from + c[3], whole, p->flip, quads);
    }
  }
}

// K_QTILE sums from a pixel on.
static void K_integer_span(
    const K_integer_depthwise_shape* p, const uint32_t* quads, const uint32_t* w, uint32_t* t) {
  const ptrdiff_t taps = p->kernel_h * p->groups;
#if K_QVW
  for (ptrdiff_t j = 0; j < K_QTILE; j += 2 * K_QVW) {
    K_qv s = {0}, u = {0};
    for (ptrdiff_t i = 0; i < taps; ++i) {
      const uint32_t* const b = quads + p->tap[i] + j;
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
    for (ptrdiff_t i = 0; i < taps; ++i) t[j] = K_quad(t[j], quads[p->tap[i] + j], w[i]);
  }
#endif
}

// Less the weights' zero point times the sums of what they meet.
static void K_integer_centre(
    const K_integer_depthwise_shape* p, const uint32_t* quads, uint32_t centre, uint32_t* t) {
  for (ptrdiff_t i = 0; i < p->kernel_h * p->groups; ++i) {
    const uint32_t* const b = quads + p->tap[i];
    for (ptrdiff_t j = 0; j < K_QTILE; ++j)
      t[j] -= centre * ((b[j] & 255u) + (b[j] >> 8 & 255u) + (b[j] >> 16 & 255u) + (b[j] >> 24));
  }
}

// Results of channel c of the output, rows as wide as in the plane.
static void K_integer_channel(const K_integer_depthwise_shape* p, const K_scales* e, ptrdiff_t c,
    const uint32_t* w, const uint32_t* quads, void* z) {
  const ptrdiff_t last = (p->out_h - 1) * p->pitch + p->out_w;
  for (ptrdiff_t at = 0; at < last; at += K_QTILE) {
    uint32_t t[K_QTILE];
    K_integer_span(p, quads + at, w, t);
    if (e->centre) K_integer_centre(p, quads + at, e->centre[c], t);
    if (e->scale) {
      K_rounds(t, K_QTILE, e->bias + c, e->scale + c, 0, e, (uint8_t*)z + at);
    } else {
      for (ptrdiff_t j = 0; j < K_QTILE; ++j) ((uint32_t*)z)[at + j] = t[j] + e->bias[c];
    }
  }
}

// The columns of the output.
// Rows are written in whole vectors, what is too much the next row replaces, as far as there is `room`
// from y on.
static void K_integer_compact(
    const uint8_t* z, ptrdiff_t rows, ptrdiff_t width, ptrdiff_t pitch, uint8_t* y, ptrdiff_t room) {
  const ptrdiff_t whole = (width + 15) / 16 * 16;
  for (ptrdiff_t r = 0; r < rows; ++r, z += pitch, y += width, room -= width) {
    if (room < whole) {
      K_copy_bytes(y, z, width);
    } else {
      for (ptrdiff_t i = 0; i < width; i += 16) memcpy(y + i, z + i, 16);
    }
  }
}

static void K_integer_depthwise(const K_integer_depthwise_shape* p, const void* x, const void* w, void* y,
    void* scratch, const K_scales* e) {
  const ptrdiff_t channels = p->channels * p->multiplier, size = e->scale ? 1 : 4;
  const ptrdiff_t bytes = p->out_h * p->out_w * size, phases = p->stride_h * p->phase;
  uint32_t* const quads = (uint32_t*)scratch;
  uint8_t* const z = (uint8_t*)(quads + p->groups * phases + K_QTILE);
  uint8_t* const lines = z + (p->phase + K_QTILE) * size;
  memset(lines, p->outside, (size_t)(p->stride_w * phases));
  for (ptrdiff_t i = 0, end = p->batch * channels; i < end; ++i) {
    const ptrdiff_t c = i % channels;
    if (i % p->multiplier == 0) {
      K_integer_lines(p, (const uint8_t*)x + i / p->multiplier * p->h * p->w, lines);
      K_integer_taps(p, lines, quads);
    }
    K_integer_channel(p, e, c, (const uint32_t*)w + c * p->kernel_h * p->groups, quads, z);
    K_integer_compact(
        z, p->out_h, p->out_w * size, p->pitch * size, (uint8_t*)y + i * bytes, (end - i) * bytes);
  }
}
