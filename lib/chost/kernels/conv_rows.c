//@ piece conv_put: tiles
// Stores n columns of rows x 16 sums t.
static void K_conv_put(
    const K_tiles* q, const float* t, ptrdiff_t rows, const float* bias, float* y, ptrdiff_t n) {
  for (ptrdiff_t r = 0; r < rows; ++r, t += K_LANES, y += q->ldy) {
    for (ptrdiff_t j = 0; j < n; ++j) {
      float v = t[j] + (q->first ? 0.0f : y[j]) + bias[r];
      v = v < q->lo ? q->lo : v;
      y[j] = v > q->hi ? q->hi : v;
    }
  }
}

//@ piece conv_rows: tiles_of tiles_alone conv_put copy_any least
//@ for Conv: constant weights, sums of 64 products or more, rows of 8 results or more
/* Convolution without columns: tiles read padded rows of some channels in a strip. */
// strip[channel][phase of the row][phase of the column][row][pitch]. A block is a run of pieces of 8 results
// within a row, of which the last one of a row overlaps the one before.
typedef struct K_conv_rows_shape {
  // channels: of one group
  ptrdiff_t batch, groups, channels, h, w;
  // m: output channels of one group
  ptrdiff_t m, out_h, out_w;
  ptrdiff_t stride_h, stride_w, taps, panels6, panels4;
  // of a block
  ptrdiff_t block_channels, pieces;
  // reach: rows of taps; plane: floats of a channel of the strip
  ptrdiff_t left, top, reach, pitch, plane; /* left, top: minus the padding */
  // of each tap, its offset in a plane
  const int* tap;
  // pieces; a part begins with a row
  ptrdiff_t begin, end;
  //@ when half_panels
  // Weights of 16 bits: their panels are unpacked here; else NULL.
  float* unpacked;
  //@ end
} K_conv_rows_shape;

// Where pieces begin in strip and result; how many results are there already.
enum { K_CONV_PIECES = 32 };
typedef struct K_conv_block_at {
  int from[K_CONV_PIECES], to[K_CONV_PIECES], skip[K_CONV_PIECES];
  // pieces: an even number
  ptrdiff_t pieces, row, rows;
} K_conv_block_at;

#define K_IN_STRIP(h, i) (((h) ? b1 : b0) + at[i])
#define K_PIECE(h) ((h) ? y1 : y0)
// Pieces that lie side by side are one vector.
#if K_WIDE
#define K_ONE_PIECE(rows) \
  if (b1 == b0 + 8) { \
    K_TILE(rows, ROW, K_IN_STRIP, K_PIECE) \
    return; \
  }
#else
#define K_ONE_PIECE(rows)
#endif
#define K_CONV_TILE(rows) \
  const ptrdiff_t k = q->k, a_row = 1, a_k = rows, ldy = q->ldy; \
  const int* const at = q->at; \
  K_ONE_PIECE(rows) K_HALVES(rows, ROW, K_IN_STRIP, K_PIECE)
static void K_conv_tile6(const K_tiles* q, const float* a, const float* b0, const float* b1, float* y0,
    float* y1, const float* bias) {
  K_CONV_TILE(6)
}

static void K_conv_tile4(const K_tiles* q, const float* a, const float* b0, const float* b1, float* y0,
    float* y1, const float* bias) {
  K_CONV_TILE(4)
}

static void K_conv_rows_find(const K_conv_rows_shape* p, ptrdiff_t first, ptrdiff_t n, K_conv_block_at* at) {
  const ptrdiff_t in_row = (p->out_w + 7) / 8;
  at->row = first / in_row;
  at->rows = (first + n - 1) / in_row - at->row + 1;
  for (ptrdiff_t i = 0; i < n; ++i) {
    const ptrdiff_t r = (first + i) / in_row, j = (first + i) % in_row * 8;
    const ptrdiff_t x = K_least(j, p->out_w - 8);
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

static void K_conv_rows_strip(
    const K_conv_rows_shape* p, const float* x, ptrdiff_t channels, const K_conv_block_at* at, float* strip) {
  const ptrdiff_t s = p->stride_w, rows = p->plane / (p->stride_h * s * p->pitch);
  memset(strip, 0, (size_t)(channels * p->plane) * sizeof(float));
  for (ptrdiff_t q = 0; q < s; ++q) {
    const ptrdiff_t before = -p->left - q, last = p->w + before;
    const ptrdiff_t lo = before <= 0 ? 0 : (before + s - 1) / s;
    const ptrdiff_t hi = last <= 0 ? 0 : K_least((last + s - 1) / s, p->pitch);
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

static void K_conv_rows_block(const K_conv_rows_shape* p, const K_tiles* q, const K_conv_block_at* at,
    const float* w, ptrdiff_t k0, const float* strip, const float* bias, float* y) {
  const K_tiles sums = K_tiles_alone(q);
  const float none[6] = {0};
  ptrdiff_t row = 0;
  //@ unless half_panels
  w += k0 * 6;
  //@ end
  //@ when half_panels
  const float* const all = w;
  const ptrdiff_t depth = p->channels * p->taps;
  //@ end
  for (ptrdiff_t panel = 0; panel < p->panels6 + p->panels4; ++panel) {
    const ptrdiff_t height = panel < p->panels6 ? 6 : 4, rows = K_least(p->m - row, height);
    float own[6] = {0}, t[6 * K_LANES];
    //@ unless half_panels
    if (panel == p->panels6) w -= k0 * 2;
    //@ end
    //@ when half_panels
    w = K_panel_at(all, row * depth + k0 * height, q->k * height, p->unpacked);
    //@ end
    for (ptrdiff_t r = 0; bias && r < rows; ++r) own[r] = bias[row + r];
    for (ptrdiff_t j = 0; j < at->pieces; j += 2) {
      const float *const b0 = strip + at->from[j], *const b1 = strip + at->from[j + 1];
      float *const y0 = y + at->to[j], *const y1 = y + at->to[j + 1];
      const int* const skip = at->skip + j;
      // A sum, or what follows, has changed what is there: then not all of the tile is stored.
      if (rows < height || ((!q->first || j == 0) && (skip[0] || skip[1]))) {
        (height == 6 ? K_conv_tile6 : K_conv_tile4)(&sums, w, b0, b1, t, t + 8, none);
        K_conv_put(q, t + skip[0], rows, own, y0 + skip[0], 8 - skip[0]);
        K_conv_put(q, t + 8 + skip[1], rows, own, y1 + skip[1], 8 - skip[1]);
      } else {
        (height == 6 ? K_conv_tile6 : K_conv_tile4)(q, w, b0, b1, y0, y1, own);
      }
    }
    //@ unless half_panels
    w += p->channels * p->taps * height;
    //@ end
    y += height * q->ldy;
    row += height;
  }
}

static void K_conv_rows_image(const K_conv_rows_shape* p, const int* order, const float* x, const float* w,
    const float* bias, float* y, float* strip, const K_epilogue* e, ptrdiff_t channel, ptrdiff_t at) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  for (ptrdiff_t first = p->begin; first < p->end; first += p->pieces) {
    K_conv_block_at block;
    K_conv_rows_find(p, first, K_least(p->end - first, p->pieces), &block);
    for (ptrdiff_t c = 0; c < p->channels; c += p->block_channels) {
      const ptrdiff_t n = K_least(p->channels - c, p->block_channels);
      K_tiles q = K_tiles_of(e, n * p->taps, 0, pixels, c == 0, c + n == p->channels);
      q.at = order;
      K_conv_rows_strip(p, x + c * p->h * p->w, n, &block, strip);
      K_conv_rows_block(p, &q, &block, w, c * p->taps, strip, c + n == p->channels ? bias : NULL, y);
    }
    const ptrdiff_t begin = block.to[0] + block.skip[0], n = block.to[block.pieces - 1] + 8 - begin;
    for (ptrdiff_t m = 0; e->fn && m < p->m; ++m)
      e->fn(e->args, y + m * pixels + begin, channel + m, begin, at + m * pixels + begin, n);
  }
}

// strip: that of a block, and behind it where each of its products reads.
static void K_conv_rows(const K_conv_rows_shape* p, const float* x, const float* w, const float* bias,
    float* y, float* strip, const K_epilogue* e) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  //@ unless half_panels
  const ptrdiff_t weights = p->channels * p->taps * (6 * p->panels6 + 4 * p->panels4);
  //@ end
  //@ when half_panels
  const ptrdiff_t weights = p->channels * p->taps * (6 * p->panels6 + 4 * p->panels4) / (p->unpacked ? 2 : 1);
  //@ end
  int* const order = (int*)(void*)(strip + p->block_channels * p->plane);
  ptrdiff_t at = 0;
  for (ptrdiff_t c = 0; c < p->block_channels; ++c) {
    for (ptrdiff_t t = 0; t < p->taps; ++t) order[c * p->taps + t] = (int)(c * p->plane) + p->tap[t];
  }
  for (ptrdiff_t n = 0; n < p->batch; ++n) {
    for (ptrdiff_t g = 0; g < p->groups; ++g, at += p->m * pixels) {
      K_conv_rows_image(
          p, order, x, w + g * weights, bias ? bias + g * p->m : NULL, y + at, strip, e, g * p->m, at);
      x += p->channels * p->h * p->w;
    }
  }
}
