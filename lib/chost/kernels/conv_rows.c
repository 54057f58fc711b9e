//@ piece conv_tiles: tiles
/* Tiles of K_conv_rows, in two halves of 8 results at y0 and y1. */
#if K_VW
#define K_HALF_BIAS(r) s##r = u##r = (K_vec){0} + bias[r];
#define K_HALF_FROM(r) s##r = K_LOAD(y + r * ldy), u##r = K_LOAD(z + r * ldy);
#define K_HALF_ADD(r) s##r += a[r] * v0, u##r += a[r] * v1;
#define K_HALF_PUT(r) K_PUT_CLAMPED(y + r * ldy, s##r), K_PUT_CLAMPED(z + r * ldy, u##r);
#endif
#if K_WIDE
typedef union K_wide_sum {
  K_wide w;
  K_vec v[2];
} K_wide_sum;
#define K_WIDE_BIAS(r) s##r.w = (K_wide){0} + bias[r];
#define K_WIDE_FROM(r) s##r.v[0] = K_LOAD(y0 + r * ldy), s##r.v[1] = K_LOAD(y1 + r * ldy);
#define K_WIDE_ADD(r) s##r.w += w[r] * v;
#define K_WIDE_TO(r) K_PUT_CLAMPED(y0 + r * ldy, s##r.v[0]), K_PUT_CLAMPED(y1 + r * ldy, s##r.v[1]);
#endif

//@ piece conv_put: tiles
/* Stores those of rows x 16 sums t that lie in columns begin to end of each half. */
static void K_conv_put(const K_tiles* q, const float* t, ptrdiff_t rows, const float* bias, float* const* y,
                       const int* begin, const int* end) {
  for (ptrdiff_t i = 0; i < 2 * rows; ++i) {
    const ptrdiff_t r = i / 2, half = i % 2;
    float* to = y[half] + r * q->ldy;
    for (ptrdiff_t j = begin[half]; j < end[half]; ++j) {
      float v = t[r * K_LANES + half * 8 + j] + (q->first ? 0.0f : to[j]) + bias[r];
      v = v < q->lo ? q->lo : v;
      to[j] = v > q->hi ? q->hi : v;
    }
  }
}

//@ piece conv_rows: epilogue copy_step conv_put conv_tile6 conv_tile4
/* Convolution without columns: tiles read padded rows of some channels in a strip[channel][phase of the
 * row][phase of the column][row][pitch]. A block is a run of pieces of 8 results within a row, of which the
 * last one of a row overlaps the one before. */
typedef struct K_conv_rows_shape {
  ptrdiff_t batch, groups, channels, h, w; /* channels: of one group */
  ptrdiff_t m, out_h, out_w;               /* m: output channels of one group */
  ptrdiff_t stride_h, stride_w, taps, panels6, panels4;
  ptrdiff_t block_channels, pieces;         /* of a block */
  ptrdiff_t left, top, reach, pitch, plane; /* reach: rows of taps; plane: floats of a channel of the strip */
  const int* tap;                           /* of each tap, its offset in a plane */
} K_conv_rows_shape;

/* Where pieces begin in strip and result; how many results are there already. */
enum { K_CONV_PIECES = 32, K_CONV_DEPTH = 640 };
typedef struct K_conv_block_at {
  int from[K_CONV_PIECES], to[K_CONV_PIECES], skip[K_CONV_PIECES];
  ptrdiff_t pieces, row, rows; /* pieces: an even number */
} K_conv_block_at;

static void K_conv_rows_find(const K_conv_rows_shape* p, ptrdiff_t first, ptrdiff_t n, K_conv_block_at* at) {
  const ptrdiff_t in_row = (p->out_w + 7) / 8;
  at->row = first / in_row;
  at->rows = (first + n - 1) / in_row - at->row + 1;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const ptrdiff_t r = (first + i) / in_row, j = (first + i) % in_row * 8;
    const ptrdiff_t x = j < p->out_w - 8 ? j : p->out_w - 8;
    at->from[i] = (int)((r - at->row) * p->pitch + x);
    at->to[i] = (int)(r * p->out_w + x);
    at->skip[i] = (int)(j - x);
  }
  at->pieces = n + n % 2;
  if (n % 2 == 0) return;
  at->from[n] = at->from[n - 1];
  at->to[n] = at->to[n - 1];
  at->skip[n] = 8;
}

static void K_conv_rows_strip(const K_conv_rows_shape* p, const float* x, ptrdiff_t channels,
                              const K_conv_block_at* at, float* strip) {
  const ptrdiff_t s = p->stride_w, rows = p->plane / (p->stride_h * s * p->pitch);
  memset(strip, 0, (size_t)(channels * p->plane) * sizeof(float));
  for (ptrdiff_t q = 0; q < s; ++q) {
    const ptrdiff_t before = -p->left - q, last = p->w + before;
    const ptrdiff_t lo = before <= 0 ? 0 : (before + s - 1) / s;
    ptrdiff_t hi = last <= 0 ? 0 : (last + s - 1) / s;
    hi = hi < p->pitch ? hi : p->pitch;
    for (ptrdiff_t r = 0; hi > lo && r < (at->rows - 1) * p->stride_h + p->reach; ++r) {
      const ptrdiff_t iy = at->row * p->stride_h + p->top + r;
      float* to = strip + ((r % p->stride_h * s + q) * rows + r / p->stride_h) * p->pitch + lo;
      const float* from = x + (iy * p->w + lo * s - before);
      if (iy < 0 || iy >= p->h) continue;
      for (ptrdiff_t c = 0; c < channels; ++c)
        K_copy_step(to + c * p->plane, from + c * p->h * p->w, s, hi - lo);
    }
  }
}

/* A tile of which not all is stored. */
static void K_conv_rows_edge(const K_tiles* q, ptrdiff_t height, ptrdiff_t rows, const float* w,
                             const float* const* b, float* const* y, const int* begin, const int* end,
                             const float* bias) {
  const float none[6] = {0};
  const K_tiles sums = {.k = q->k, .ldy = K_LANES, .lo = -INFINITY, .hi = INFINITY, .first = 1, .at = q->at};
  float t[6 * K_LANES];
  (height == 6 ? K_conv_tile6 : K_conv_tile4)(&sums, w, b[0], b[1], t, t + 8, none);
  K_conv_put(q, t, rows, q->first ? bias : none, y, begin, end);
}

static void K_conv_rows_block(const K_conv_rows_shape* p, const K_tiles* q, const K_conv_block_at* at,
                              const float* w, ptrdiff_t k0, const float* strip, const float* bias, float* y) {
  const ptrdiff_t depth = p->channels * p->taps;
  const int end[2] = {8, 8};
  ptrdiff_t row = 0;
  for (ptrdiff_t panel = 0; panel < p->panels6 + p->panels4; ++panel) {
    const ptrdiff_t height = panel < p->panels6 ? 6 : 4, rows = p->m - row < height ? p->m - row : height;
    float own[6] = {0};
    for (ptrdiff_t r = 0; bias && r < rows; ++r) own[r] = bias[row + r];
    for (ptrdiff_t j = 0; j < at->pieces; j += 2) {
      const float* const b[2] = {strip + at->from[j], strip + at->from[j + 1]};
      float* const to[2] = {y + at->to[j], y + at->to[j + 1]};
      /* A sum, or what follows, has changed what is there. */
      const int partly = (!q->first || j == 0) && (at->skip[j] || at->skip[j + 1]);
      if (rows < height || partly) {
        K_conv_rows_edge(q, height, rows, w + k0 * height, b, to, at->skip + j, end, own);
      } else {
        (height == 6 ? K_conv_tile6 : K_conv_tile4)(q, w + k0 * height, b[0], b[1], to[0], to[1], own);
      }
    }
    w += depth * height;
    y += height * q->ldy;
    row += height;
  }
}

static void K_conv_rows_image(const K_conv_rows_shape* p, const int* order, const float* x, const float* w,
                              const float* bias, float* y, float* strip, const K_epilogue* e,
                              ptrdiff_t channel, ptrdiff_t at) {
  const ptrdiff_t pixels = p->out_h * p->out_w, all = p->out_h * ((p->out_w + 7) / 8);
  for (ptrdiff_t first = 0; first < all; first += p->pieces) {
    K_conv_block_at block;
    K_conv_rows_find(p, first, all - first < p->pieces ? all - first : p->pieces, &block);
    for (ptrdiff_t c = 0; c < p->channels; c += p->block_channels) {
      const ptrdiff_t n = p->channels - c < p->block_channels ? p->channels - c : p->block_channels;
      const int last = c + n == p->channels;
      const K_tiles q = {.k = n * p->taps,
                         .ldy = pixels,
                         .lo = last ? e->lo : -INFINITY,
                         .hi = last ? e->hi : INFINITY,
                         .first = c == 0,
                         .at = order};
      K_conv_rows_strip(p, x + c * p->h * p->w, n, &block, strip);
      K_conv_rows_block(p, &q, &block, w, c * p->taps, strip, bias, y);
    }
    const ptrdiff_t begin = block.to[0] + block.skip[0], n = block.to[block.pieces - 1] + 8 - begin;
    for (ptrdiff_t m = 0; e->fn && m < p->m; ++m)
      e->fn(e->args, y + m * pixels + begin, channel + m, begin, at + m * pixels + begin, n);
  }
}

static void K_conv_rows(const K_conv_rows_shape* p, const float* x, const float* w, const float* bias,
                        float* y, float* strip, const K_epilogue* e) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  const ptrdiff_t weights = p->channels * p->taps * (6 * p->panels6 + 4 * p->panels4);
  int order[K_CONV_DEPTH];
  ptrdiff_t at = 0;
  for (ptrdiff_t c = 0; c < p->block_channels; ++c) {
    for (ptrdiff_t t = 0; t < p->taps; ++t) order[c * p->taps + t] = (int)(c * p->plane) + p->tap[t];
  }
  for (ptrdiff_t n = 0; n < p->batch; ++n) {
    for (ptrdiff_t g = 0; g < p->groups; ++g, at += p->m * pixels) {
      K_conv_rows_image(p, order, x, w + g * weights, bias ? bias + g * p->m : NULL, y + at, strip, e,
                        g * p->m, at);
      x += p->channels * p->h * p->w;
    }
  }
}
