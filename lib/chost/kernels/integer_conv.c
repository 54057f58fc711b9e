//@ piece integer_gather: quads copy_bytes
/* Convolutions of bytes, by blocks of output pixels. */
// Columns of the input are gathered as quads, b[k][ldb]: four taps or channels of a pixel, k = channel *
// taps + tap over four. They come from a strip, the rows of one channel that the block reads with their
// padding, columns sorted by phase modulo the stride, so that every tap reads consecutive bytes:
// strip[row][phase][pitch]. Bytes of x are unsigned once `flip` is taken of them; what lies outside the
// image is `outside`, the zero point. Behind the last tap weights are zero points as well, so it does not
// matter what they meet.
typedef struct K_integer_shape {
  ptrdiff_t batch, groups, channels, h, w; /* channels: of one group */
  ptrdiff_t m, out_h, out_w; /* m: output channels of one group */
  ptrdiff_t stride_h, stride_w, taps, depth, panels6, panels4, ldb;
  ptrdiff_t top, left, reach, pitch; /* of the strip: its first row and column, rows beyond the first tap's */
  const int* tap; /* of each, the offset in the strip */
  uint32_t flip;
  int outside, direct; /* direct: 1x1, stride 1, no padding: read the image in place */
} K_integer_shape;

// The rows of a channel from `first` on; outside the image the strip has its padding already.
static void K_integer_strip(
    const K_integer_shape* p, const uint8_t* plane, ptrdiff_t first, ptrdiff_t rows, uint8_t* strip) {
  const ptrdiff_t s = p->stride_w;
  for (ptrdiff_t q = 0; q < s; ++q, strip += p->pitch) {
    const ptrdiff_t before = -p->left - q, last = p->w + before;
    const ptrdiff_t lo = before <= 0 ? 0 : s == 1 ? before : (before + s - 1) / s;
    ptrdiff_t hi = last <= 0 ? 0 : s == 1 ? last : (last + s - 1) / s;
    hi = hi < p->pitch ? hi : p->pitch;
    for (ptrdiff_t r = 0, iy = first; hi > lo && r < rows; ++r, ++iy) {
      if (iy < 0 || iy >= p->h) continue;
      K_copy_every(strip + r * s * p->pitch + lo, plane + iy * p->w + (lo * s - before), s, hi - lo);
    }
  }
}

// One tap of n pixels from column ox of a row on.
// Runs are written in whole vectors: what is too much the next run or row replaces.
static void K_integer_tap(
    const uint8_t* from, ptrdiff_t step, ptrdiff_t out_w, ptrdiff_t ox, ptrdiff_t n, uint8_t* to) {
  while (n > 0) {
    const ptrdiff_t run = out_w - ox < n ? out_w - ox : n;
    for (ptrdiff_t i = 0; i < run; i += 16) memcpy(to + i, from + ox + i, 16);
    to += run;
    n -= run;
    from += step;
    ox = 0;
  }
}

// `rows`: room for four rows of ldb + 16 bytes, and behind them the strip.
static void K_integer_gather(
    const K_integer_shape* p, const uint8_t* x, ptrdiff_t p0, ptrdiff_t n, uint32_t* b, uint8_t* rows) {
  const ptrdiff_t oy = p0 / p->out_w, ox = p0 % p->out_w, more = (p0 + n - 1) / p->out_w - oy;
  const ptrdiff_t line = p->stride_w * p->pitch, high = more * p->stride_h + p->reach + 1;
  const ptrdiff_t depth = p->channels * p->taps;
  uint8_t* const strip = p->direct ? rows : rows + 4 * (p->ldb + 16);
  const uint8_t* from[4] = {x, x, x, x};
  if (!p->direct) memset(strip, p->outside, (size_t)(high * line));
  for (ptrdiff_t k = 0, t = 0; k < 4 * p->depth; ++k) {
    if (k < depth && p->direct) {
      from[k % 4] = x + k * p->h * p->w + p0;
    } else if (k < depth) {
      uint8_t* const to = rows + k % 4 * (p->ldb + 16);
      if (t == 0) K_integer_strip(p, x + k / p->taps * p->h * p->w, oy * p->stride_h + p->top, high, strip);
      K_integer_tap(strip + p->tap[t], p->stride_h * line, p->out_w, ox, n, to);
      from[k % 4] = to;
      t = t + 1 == p->taps ? 0 : t + 1;
    }
    if (k % 4 != 3) continue;
    K_quads(from[0], from[1], from[2], from[3], n, p->flip, b);
    b += p->ldb;
  }
}

//@ piece integer_conv: integer_gather quad_sums requantize dot imicro6 imicro4
//@ for QLinearConv, ConvInteger: constant weights and zero points
/* Rows of sums, each of one channel, as bytes (or 32 bits). */
static void K_integer_tile(const K_scales* e, ptrdiff_t m, uint32_t* t, const uint32_t* sums, ptrdiff_t rows,
    ptrdiff_t cols, void* y, ptrdiff_t at, ptrdiff_t ldy) {
  for (ptrdiff_t r = 0; r < rows; ++r, ++m, t += K_QTILE, at += ldy) {
    uint8_t z[K_QTILE];
    uint8_t* const to = (uint8_t*)y + at;
    for (ptrdiff_t j = 0; e->centre && j < K_QTILE; ++j) t[j] -= e->centre[m] * sums[j];
    if (!e->scale) {
      for (ptrdiff_t j = 0; j < cols; ++j) ((uint32_t*)y)[at + j] = t[j] + e->bias[m];
    } else if (cols == K_QTILE) {
      K_rounds(t, K_QTILE, e->bias + m, e->scale + m, 0, e, to);
    } else {
      K_rounds(t, K_QTILE, e->bias + m, e->scale + m, 0, e, z);
      K_copy_bytes(to, z, cols);
    }
  }
}

// All panels of channels times the n pixels of one block.
static void K_integer_block(const K_integer_shape* p, const K_scales* e, ptrdiff_t m0, const uint32_t* w,
    const uint32_t* b, ptrdiff_t n, void* y, ptrdiff_t at) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  uint32_t t[6 * K_QTILE], sums[K_QTILE] = {0};
  for (ptrdiff_t j = 0; j < n; j += K_QTILE) {
    const ptrdiff_t cols = n - j < K_QTILE ? n - j : K_QTILE;
    const uint32_t* panel = w;
    if (e->centre) K_quad_sums(p->depth, b + j, p->ldb, K_QTILE, sums);
    for (ptrdiff_t i = 0, row = 0; i < p->panels6 + p->panels4; ++i) {
      const ptrdiff_t mr = i < p->panels6 ? 6 : 4, rows = p->m - row < mr ? p->m - row : mr;
      if (mr == 6) {
        K_imicro6(p->depth, panel, b + j, p->ldb, t);
      } else {
        K_imicro4(p->depth, panel, b + j, p->ldb, t);
      }
      K_integer_tile(e, m0 + row, t, sums, rows, cols, y, at + row * pixels + j, pixels);
      panel += p->depth * mr;
      row += mr;
    }
  }
}

static void K_integer_conv(
    const K_integer_shape* p, const void* x, const void* w, void* y, void* scratch, const K_scales* e) {
  const ptrdiff_t pixels = p->out_h * p->out_w, panels = p->depth * (6 * p->panels6 + 4 * p->panels4);
  const uint8_t* from = (const uint8_t*)x;
  uint32_t* const b = (uint32_t*)scratch;
  uint8_t* const rows = (uint8_t*)(b + p->depth * p->ldb);
  for (ptrdiff_t i = 0; i < p->batch * p->groups; ++i, from += p->channels * p->h * p->w) {
    const ptrdiff_t g = i % p->groups;
    for (ptrdiff_t p0 = 0; p0 < pixels; p0 += p->ldb) {
      const ptrdiff_t n = pixels - p0 < p->ldb ? pixels - p0 : p->ldb;
      K_integer_gather(p, from, p0, n, b, rows);
      K_integer_block(p, e, g * p->m, (const uint32_t*)w + g * panels, b, n, y, i * p->m * pixels + p0);
    }
  }
}
