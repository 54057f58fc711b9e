//@ piece conv_rest: conv_put tiles_alone panel6 micro12
/* One pixel of a panel of six channels: t[r * 16] = sum of w[k][r] * b[k * ldb]. */
// The channels in a vector, and behind them two of the next k.
static void K_conv_pixel(ptrdiff_t k, const float* w, const float* b, ptrdiff_t ldb, float* t) {
  float s[8] = {0};
  ptrdiff_t i = 0;
#if K_VW
  K_vec v[4][8 / K_VW] = {{{0}}};
  for (; i + 4 < k; i += 4) {
    for (int u = 0; u < 4; ++u) {
      for (int j = 0; j < 8 / K_VW; ++j) v[u][j] += b[(i + u) * ldb] * K_LOAD(w + 6 * (i + u) + j * K_VW);
    }
  }
  for (int j = 0; j < 8 / K_VW; ++j) K_STORE(s + j * K_VW, v[0][j] + v[1][j] + (v[2][j] + v[3][j]));
#endif
  for (; i < k; ++i) {
    for (ptrdiff_t r = 0; r < 6; ++r) s[r] += w[6 * i + r] * b[i * ldb];
  }
  for (ptrdiff_t r = 0; r < 6; ++r) t[r * K_LANES] = s[r];
}

// n < 16 pixels of one or two panels of six whose weights are `apart`.
// All of them one by one, or 8 in a vector and those behind it one by one.
static void K_conv_rest(const K_tiles* q, ptrdiff_t panels, ptrdiff_t rows, const float* w, ptrdiff_t apart,
    const float* b, ptrdiff_t n, const float* bias, float* y) {
  ptrdiff_t first = 0;
  float t[12 * K_LANES];
#if K_VW == 8
  first = n > 2 ? 8 : 0;
  if (panels == 2) {
    K_micro12(q->k, w, w + apart, b, q->ldb, t);
  } else if (first) {
    const float none[6] = {0};
    const K_tiles sums = K_tiles_alone(q);
    K_panel6(&sums, w, b, none, t);
  }
#endif
  for (ptrdiff_t i = 0; i < panels; ++i, w += apart, y += 6 * q->ldy) {
    float* const own = t + i * 6 * K_LANES;
    for (ptrdiff_t j = first; j < n; ++j) K_conv_pixel(q->k, w, b + j, q->ldb, own + j);
    K_conv_put(q, own, i + 1 < panels ? 6 : rows, bias + 6 * i, y, n);
  }
}

//@ piece conv: tiles_of tiles_alone conv_put panel6 panel4 copy_any least
//@ for Conv, ConvTranspose: constant weights; sums of few products, or rows of fewer than 8 results
/* Convolution by blocks of output pixels: columns of the input, b[k][ldb], times panels of output channels.
 */
// Panels are of six and four channels, tiles of 16 pixels. Columns come from a strip: the rows of one channel
// that the block reads, with their padding, and their columns sorted by phase modulo the stride, so that
// every tap reads consecutive elements: strip[row][phase][pitch]. It holds the rows of all taps (shared), or
// those of one row of taps. tap[3 * t + (0..2)]: offset in rows of the strip's first row, rows of the strip
// beyond those of the first tap, and the tap's offset in the strip. direct, of a 1x1 of stride 1 without
// padding: read the image in place (1), or copy it (2), as its channels would take each other's place in the
// cache.
typedef struct K_conv_shape {
  // channels: of one group
  ptrdiff_t batch, groups, channels, h, w;
  // m: output channels of one group
  ptrdiff_t m, out_h, out_w;
  ptrdiff_t stride_h, stride_w, taps, panels6, panels4, block_k, ldb;
  // left: input column of the strip's first
  ptrdiff_t left, pitch;
  const int* tap;
  int shared, direct;
  // pixels; a part begins at a multiple of 16
  ptrdiff_t begin, end;
  //@ when half_panels
  // Weights of 16 bits: their panels are unpacked here, every second one so many floats behind; else NULL.
  float* unpacked;
  ptrdiff_t second;
  //@ end
} K_conv_shape;

// Rows first, first + step, ... of a channel; outside the image the strip holds zeros already.
static void K_conv_strip(const K_conv_shape* p, const float* plane, ptrdiff_t first, ptrdiff_t step,
    ptrdiff_t rows, float* strip) {
  const ptrdiff_t s = p->stride_w;
  for (ptrdiff_t q = 0; q < s; ++q, strip += p->pitch) {
    const ptrdiff_t before = -p->left - q, last = p->w + before;
    const ptrdiff_t lo = before <= 0 ? 0 : (before + s - 1) / s;
    const ptrdiff_t hi = last <= 0 ? 0 : K_least((last + s - 1) / s, p->pitch);
    for (ptrdiff_t r = 0, iy = first; hi > lo && r < rows; ++r, iy += step) {
      if (iy < 0 || iy >= p->h) continue;
      K_copy_step(strip + r * s * p->pitch + lo, plane + iy * p->w + (lo * s - before), s, hi - lo);
    }
  }
}

// One tap of n pixels from column ox of the strip's first row on.
// Runs are written in whole vectors: what is too much the next run or row replaces.
static void K_conv_tap(
    const float* from, ptrdiff_t step, ptrdiff_t out_w, ptrdiff_t ox, ptrdiff_t n, float* b) {
  while (n > 0) {
    const ptrdiff_t run = K_least(out_w - ox, n);
    for (ptrdiff_t i = 0; i < run; i += 8) memcpy(b + i, from + ox + i, 8 * sizeof(float));
    b += run;
    n -= run;
    from += step;
    ox = 0;
  }
}

static void K_conv_gather(
    const K_conv_shape* p, const float* x, ptrdiff_t k0, ptrdiff_t kn, ptrdiff_t p0, ptrdiff_t n, float* b) {
  const ptrdiff_t tail = (n - 1) / K_LANES * K_LANES, line = p->stride_w * p->pitch;
  const ptrdiff_t oy = p0 / p->out_w, ox = p0 % p->out_w, more = (p0 + n - 1) / p->out_w - oy;
  const ptrdiff_t step = p->shared ? p->stride_h : 1, row_step = p->shared ? 1 : p->stride_h;
  float* strip = b + p->block_k * p->ldb + 8;
  const int* held = NULL;
  ptrdiff_t t = k0 % p->taps;
  const float* plane = x + k0 / p->taps * p->h * p->w;
  for (ptrdiff_t k = 0; k < kn; ++k, b += p->ldb) {
    const int* tap = p->tap + 3 * t;
    memset(b + tail, 0, K_LANES * sizeof(float));
    if (p->direct) {
      K_copy(b, plane + p0, n);
    } else {
      const ptrdiff_t rows = more * step + tap[1] + 1;
      const int other = !held || held[0] != tap[0];
      if (other) memset(strip, 0, (size_t)(rows * line) * sizeof(float));
      if (other || t == 0) K_conv_strip(p, plane, oy * p->stride_h + tap[0], row_step, rows, strip);
      held = tap;
      K_conv_tap(strip + tap[2], step * line, p->out_w, ox, n, b);
    }
    if (++t == p->taps) {
      t = 0;
      plane += p->h * p->w;
    }
  }
}

// A tile of `rows` channels and n pixels.
static void K_conv_tile(const K_tiles* q, ptrdiff_t height, ptrdiff_t rows, const float* w, const float* b,
    ptrdiff_t n, const float* bias, float* y) {
  if (rows == height && n == K_LANES) {
    (height == 6 ? K_panel6 : K_panel4)(q, w, b, bias, y);
    return;
  }
  const K_tiles sums = K_tiles_alone(q);
  const float none[6] = {0};
  float t[6 * K_LANES];
  (height == 6 ? K_panel6 : K_panel4)(&sums, w, b, none, t);
  K_conv_put(q, t, rows, bias, y, n);
}

// All panels times a block: `whole` tiles of pixels from b on, and n more at `rest`.
static void K_conv_block(const K_conv_shape* p, const K_tiles* q, const float* w, ptrdiff_t k0,
    const float* b, ptrdiff_t whole, const float* rest, ptrdiff_t n, const float* bias, float* y) {
  const ptrdiff_t depth = p->channels * p->taps;
  K_tiles edge = *q;
  float own[12] = {0};
  edge.ldb = p->ldb;
  for (ptrdiff_t panel = 0, row = 0; panel < p->panels6 + p->panels4; ++panel) {
    const ptrdiff_t height = panel < p->panels6 ? 6 : 4, rows = K_least(p->m - row, height);
    //@ unless half_panels
    const float* const from = w + row * depth + k0 * height;
    //@ end
    //@ when half_panels
    const float* const from = K_panel_at(w, row * depth + k0 * height, q->k * height,
        p->unpacked ? p->unpacked + panel % 2 * p->second : NULL);
    //@ end
    float *const to = y + row * q->ldy, *const tail = to + whole * K_LANES;
    memcpy(own, own + 6, 6 * sizeof(float));
    for (ptrdiff_t r = 0; bias && r < rows; ++r) own[6 + r] = bias[row + r];
    // Tiles of pixels that two panels take together, behind the second one.
    ptrdiff_t done = 0;
    //@ when panel12
    //@ unless half_panels
#if K_WIDE
    const int second = panel % 2 != 0 && panel < p->panels6 && rows == 6;
    if (second || (panel % 2 == 0 && panel + 1 < p->panels6 && p->m - row >= 12)) done = whole - whole % 2;
    for (ptrdiff_t j = 0; second && j < done; j += 2) {
      for (ptrdiff_t i = q->k * 6 * j / done; panel + 2 < p->panels6 && i < q->k * 6 * (j + 2) / done;
           i += 16) {
        __builtin_prefetch(from + depth * 6 + i, 0, 2);
        __builtin_prefetch(from + depth * 12 + i, 0, 2);
      }
      K_panel12(q, from - 6 * depth, from, b + j * K_LANES, own, to - 6 * q->ldy + j * K_LANES, 6 * q->ldy,
          K_LANES);
    }
#endif
    //@ end
    //@ end
    row += height;
    for (ptrdiff_t j = done; j < whole; ++j) {
#if defined(__GNUC__)
      // The next panel, which does not follow in memory.
      //@ unless half_panels
      for (ptrdiff_t i = q->k * 6 * j / whole; panel + 1 < p->panels6 && i < q->k * 6 * (j + 1) / whole;
           i += 16)
        __builtin_prefetch(from + depth * 6 + i, 0, 2);
      //@ end
      //@ when half_panels
      const ptrdiff_t size = p->unpacked ? 3 : 6;
      for (ptrdiff_t i = q->k * size * j / whole; panel + 1 < p->panels6 && i < q->k * size * (j + 1) / whole;
           i += 16)
        __builtin_prefetch(w + (row * depth + k0 * 6) * size / 6 + i, 0, 2);
        //@ end
#endif
      K_conv_tile(q, height, rows, from, b + j * K_LANES, K_LANES, own + 6, to + j * K_LANES);
    }
    //@ when conv_rest
    // Whichever panels a part has, a result is made in the same way.
    const int pairs = K_VW == 8 && n > 2 && n <= 10;
    if (height == 6 && n > 0 && (n <= (K_VW ? 2 : K_LANES) || pairs)) {
      const ptrdiff_t panels = pairs && panel % 2 != 0 ? 2 : 1, before = 6 * (panels - 1);
      if (pairs && panel % 2 == 0 && panel + 1 < p->panels6) continue;
      //@ unless half_panels
      K_conv_rest(&edge, panels, rows, from - before * depth, 6 * depth, rest, n, own + 6 - before,
          tail - before * q->ldy);
      //@ end
      //@ when half_panels
      const ptrdiff_t apart = p->unpacked ? p->second : 6 * depth;
      K_conv_rest(&edge, panels, rows, from - (panels - 1) * apart, apart, rest, n, own + 6 - before,
          tail - before * q->ldy);
      //@ end
      continue;
    }
    //@ end
    if (n > 0) K_conv_tile(&edge, height, rows, from, rest, n, own + 6, tail);
  }
}

static void K_conv_image(const K_conv_shape* p, const float* x, const float* w, const float* bias, float* y,
    float* b, const K_epilogue* e, ptrdiff_t channel, ptrdiff_t at) {
  const ptrdiff_t depth = p->channels * p->taps, pixels = p->out_h * p->out_w;
  for (ptrdiff_t p0 = p->begin; p0 < p->end; p0 += p->ldb) {
    const ptrdiff_t n = K_least(p->end - p0, p->ldb), whole = n / K_LANES;
    const ptrdiff_t in_place = p->direct == 1 ? whole * K_LANES : 0;
    for (ptrdiff_t k0 = 0; k0 < depth; k0 += p->block_k) {
      const ptrdiff_t kn = K_least(depth - k0, p->block_k);
      const K_tiles q =
          K_tiles_of(e, kn, p->direct == 1 ? pixels : p->ldb, pixels, k0 == 0, k0 + kn == depth);
      if (in_place < n) K_conv_gather(p, x, k0, kn, p0 + in_place, n - in_place, b);
      K_conv_block(p, &q, w, k0, p->direct == 1 ? x + k0 * pixels + p0 : b, whole,
          b + whole * K_LANES - in_place, n % K_LANES, k0 + kn == depth ? bias : NULL, y + p0);
    }
    for (ptrdiff_t m = 0; e->fn && m < p->m; ++m) {
      e->fn(e->args, y + m * pixels + p0, channel + m, p0, at + m * pixels + p0, n);
    }
  }
}

static void K_conv(const K_conv_shape* p, const float* x, const float* w, const float* bias, float* y,
    float* b, const K_epilogue* e) {
  const ptrdiff_t pixels = p->out_h * p->out_w;
  //@ unless half_panels
  const ptrdiff_t weights = p->channels * p->taps * (6 * p->panels6 + 4 * p->panels4);
  //@ end
  //@ when half_panels
  const ptrdiff_t weights = p->channels * p->taps * (6 * p->panels6 + 4 * p->panels4) / (p->unpacked ? 2 : 1);
  //@ end
  ptrdiff_t at = 0;
  for (ptrdiff_t n = 0; n < p->batch; ++n) {
    for (ptrdiff_t g = 0; g < p->groups; ++g, at += p->m * pixels) {
      K_conv_image(p, x, w + g * weights, bias ? bias + g * p->m : NULL, y + at, b, e, g * p->m, at);
      x += p->channels * p->h * p->w;
    }
  }
}
