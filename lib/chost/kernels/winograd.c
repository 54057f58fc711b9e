//@ piece lanes: base
/* What is computed at once where a text serves vectors and plain C alike. */
#if K_VW
typedef K_vec K_some;
#define K_SOME K_VW
#define K_GET(p) K_LOAD(p)
#define K_PUT(p, v) K_STORE(p, v)
// v within [lo, hi] as K_MAX and K_MIN have it.
#define K_CLAMP(v, lo, hi) (v = K_MAX(lo, v), v = K_MIN(hi, v))
typedef int K_pick __attribute__((vector_size(K_VW * 4)));
#if defined(__clang__)
#define K_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define K_PICK(a, b, ...) __builtin_shuffle(a, b, (K_pick){__VA_ARGS__})
#endif
#else
typedef float K_some;
#define K_SOME 1
#define K_GET(p) (*(p))
#define K_PUT(p, v) (*(p) = (v))
#define K_CLAMP(v, lo, hi) (v = v < lo ? lo : v, v = v > hi ? hi : v)
#endif
// Every second of two vectors, from the first or second on, and pairs of their lower or upper halves.
#if K_VW == 8
#define K_EVENS(a, b) K_PICK(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define K_ODDS(a, b) K_PICK(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define K_LOWER(a, b) K_PICK(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define K_UPPER(a, b) K_PICK(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif K_VW == 4
#define K_EVENS(a, b) K_PICK(a, b, 0, 2, 4, 6)
#define K_ODDS(a, b) K_PICK(a, b, 1, 3, 5, 7)
#define K_LOWER(a, b) K_PICK(a, b, 0, 4, 1, 5)
#define K_UPPER(a, b) K_PICK(a, b, 2, 6, 3, 7)
#endif
#define K_PUT4(p, step, s) \
  K_PUT(p, s##0), K_PUT((p) + (step), s##1), K_PUT((p) + 2 * (step), s##2), K_PUT((p) + 3 * (step), s##3);
#define K_PUT6(p, step, s) K_PUT4(p, step, s) K_PUT((p) + 4 * (step), s##4), K_PUT((p) + 5 * (step), s##5);

//@ piece winograd4: lanes clamp
/* F(4x4, 3x3) with the points 0, +-5/8, +-3/2 and infinity: every factor is a float. */
// One dimension of a tile's input from d(0..5), and of its results to r(0..3).
#define K_WINOGRAD4_IN(d, t) \
  const K_some t##e = d(4) - 2.25f * d(2), t##f = d(3) - 2.25f * d(1); \
  const K_some t##g = d(4) - 0.390625f * d(2), t##h = d(3) - 0.390625f * d(1); \
  const K_some t##0 = 0.87890625f * d(0) - 2.640625f * d(2) + d(4), t##1 = t##e + 0.625f * t##f; \
  const K_some t##2 = t##e - 0.625f * t##f, t##3 = t##g + 1.5f * t##h, t##4 = t##g - 1.5f * t##h; \
  const K_some t##5 = 0.87890625f * d(1) - 2.640625f * d(3) + d(5);
#define K_WINOGRAD4_OUT(m, r) \
  const K_some r##a = m(1) + m(2), r##b = m(1) - m(2), r##c = m(3) + m(4), r##d = m(3) - m(4); \
  K_some r##0 = m(0) + r##a + r##c, r##1 = 0.625f * r##b + 1.5f * r##d; \
  K_some r##2 = 0.390625f * r##a + 2.25f * r##c, r##3 = 0.244140625f * r##b + 3.375f * r##d + m(5);

// Tiles of one row, from strip[6][4][pitch] by way of t[6][4][pitch] to 36 places v[step].
static void K_winograd4_in(
    const float* strip, ptrdiff_t pitch, ptrdiff_t tiles, float* t, float* v, ptrdiff_t step) {
  const ptrdiff_t line = 4 * pitch;
  for (ptrdiff_t q = 0; q < 4; ++q) {
    for (ptrdiff_t i = q * pitch; i < q * pitch + tiles + (q < 2); i += K_SOME) {
#define K_AT(k) K_GET(strip + (k)*line + i)
      K_WINOGRAD4_IN(K_AT, s)
#undef K_AT
      K_PUT6(t + i, line, s)
    }
  }
  for (ptrdiff_t k = 0; k < 6; ++k, t += line, v += 6 * step) {
    for (ptrdiff_t i = 0; i < tiles; i += K_SOME) {
#define K_AT(k) K_GET(t + (k) % 4 * pitch + (k) / 4 + i)
      K_WINOGRAD4_IN(K_AT, s)
#undef K_AT
      K_PUT6(v + i, step, s)
    }
  }
}

// A channel's sums of K_SOME tiles, in 36 places m[step], to y[4][ldy]; `bad`: 0, or no number if some are
// none.
static void K_winograd4_out(
    const float* m, ptrdiff_t step, float bias, float lo, float hi, float* y, ptrdiff_t ldy, K_some* bad) {
  const K_some low = (K_some){0} + lo, high = (K_some){0} + hi;
  K_some t[24];
  for (ptrdiff_t k = 0; k < 6; ++k) {
#define K_AT(j) K_GET(m + (6 * (j) + k) * step)
    K_WINOGRAD4_OUT(K_AT, s)
#undef K_AT
    t[k] = s0, t[6 + k] = s1, t[12 + k] = s2, t[18 + k] = s3;
  }
  for (ptrdiff_t k = 0; k < 24; k += 6, y += ldy) {
#define K_AT(j) t[k + (j)]
    K_WINOGRAD4_OUT(K_AT, s)
#undef K_AT
    s0 += bias, s1 += bias, s2 += bias, s3 += bias;
    *bad += 0.0f * s0 + 0.0f * s1 + 0.0f * s2 + 0.0f * s3;
    K_CLAMP(s0, low, high), K_CLAMP(s1, low, high), K_CLAMP(s2, low, high), K_CLAMP(s3, low, high);
#if K_VW
    const K_some e = K_LOWER(s0, s2), f = K_LOWER(s1, s3), g = K_UPPER(s0, s2), h = K_UPPER(s1, s3);
    K_PUT(y, K_LOWER(e, f));
    K_PUT(y + K_VW, K_UPPER(e, f));
    K_PUT(y + 2 * K_VW, K_LOWER(g, h));
    K_PUT(y + 3 * K_VW, K_UPPER(g, h));
#else
    y[0] = s0, y[1] = s1, y[2] = s2, y[3] = s3;
#endif
  }
}

//@ piece winograd2: lanes clamp
/* F(2x2, 3x3) with the points 0, 1, -1 and infinity; as above. */
#define K_WINOGRAD2_IN(d, t) \
  const K_some t##0 = d(2) - d(0), t##1 = d(2) + d(1), t##2 = d(2) - d(1); \
  const K_some t##3 = d(3) - d(1);
#define K_WINOGRAD2_OUT(m, r) K_some r##0 = m(0) + m(1) + m(2), r##1 = m(1) - m(2) + m(3);

static void K_winograd2_in(
    const float* strip, ptrdiff_t pitch, ptrdiff_t tiles, float* t, float* v, ptrdiff_t step) {
  const ptrdiff_t line = 2 * pitch;
  for (ptrdiff_t q = 0; q < 2; ++q) {
    for (ptrdiff_t i = q * pitch; i < q * pitch + tiles + 1; i += K_SOME) {
#define K_AT(k) K_GET(strip + (k)*line + i)
      K_WINOGRAD2_IN(K_AT, s)
#undef K_AT
      K_PUT4(t + i, line, s)
    }
  }
  for (ptrdiff_t k = 0; k < 4; ++k, t += line, v += 4 * step) {
    for (ptrdiff_t i = 0; i < tiles; i += K_SOME) {
#define K_AT(k) K_GET(t + (k) % 2 * pitch + (k) / 2 + i)
      K_WINOGRAD2_IN(K_AT, s)
#undef K_AT
      K_PUT4(v + i, step, s)
    }
  }
}

static void K_winograd2_out(
    const float* m, ptrdiff_t step, float bias, float lo, float hi, float* y, ptrdiff_t ldy, K_some* bad) {
  const K_some low = (K_some){0} + lo, high = (K_some){0} + hi;
  K_some t[8];
  for (ptrdiff_t k = 0; k < 4; ++k) {
#define K_AT(j) K_GET(m + (4 * (j) + k) * step)
    K_WINOGRAD2_OUT(K_AT, s)
#undef K_AT
    t[k] = s0, t[4 + k] = s1;
  }
  for (ptrdiff_t k = 0; k < 8; k += 4, y += ldy) {
#define K_AT(j) t[k + (j)]
    K_WINOGRAD2_OUT(K_AT, s)
#undef K_AT
    s0 += bias, s1 += bias;
    *bad += 0.0f * s0 + 0.0f * s1;
    K_CLAMP(s0, low, high), K_CLAMP(s1, low, high);
#if K_VW
    K_PUT(y, K_LOWER(s0, s1));
    K_PUT(y + K_VW, K_UPPER(s0, s1));
#else
    y[0] = s0, y[1] = s1;
#endif
  }
}

//@ piece winograd: epilogue lanes copy least panel6 panel4
//@ for Conv: 3x3 of stride 1, where it is faster and its error is small enough
/* 3x3 convolution of stride 1 by Winograd's F(n x n, 3x3), n = 4 or 2 (Lavin & Gray, arXiv 1509.09308). */
// A tile of n x n results is a transform of s = (n + 2)^2 products, each a sum over channels of a transformed
// weight and a transformed tile of (n + 2)^2 inputs. So there are s products of matrices: channels times
// tiles, in blocks of tiles whose inputs stay in the second-level cache. Weights: w[panel][s][channel][6 or
// 4]. What is no number in a tile's input, or overflows there, spoils the tile: results that are no number
// are computed once more, as sums of `direct`, the network's own weights.
typedef struct K_winograd_shape {
  ptrdiff_t batch, channels, h, w, m, out_h, out_w;
  // block: panels whose results are transformed together
  ptrdiff_t panels6, panels4, block;
  // input row and column of the first result's first tap
  ptrdiff_t top, left; /* minus the padding */
  // tiles of a block, in V at a distance of ldb floats by channel
  ptrdiff_t n, tiles, ldb;
  // of a strip: rows of input, and floats of a phase of one
  ptrdiff_t rows, pitch;
  const float* direct;
  void (*in)(const float* strip, ptrdiff_t pitch, ptrdiff_t tiles, float* t, float* v, ptrdiff_t step);
  void (*out)(
      const float* m, ptrdiff_t step, float bias, float lo, float hi, float* y, ptrdiff_t ldy, K_some* bad);
  // tiles; a part begins at a multiple of 16
  ptrdiff_t begin, end;
} K_winograd_shape;

// A block: `count` tiles of `across` a row from `first` on, which is in row `row`.
// Its strip holds `wide` tiles of `high` rows, from the tile `column` of a row on. Steps are odd numbers of
// cache lines, so that a channel's transformed tiles do not fall into the same sets.
typedef struct K_winograd_block {
  ptrdiff_t first, count, across, groups, row, high, column, wide, places, v_step, m_step, y_step;
  float *strip, *line, *t, *v, *m, *y;
} K_winograd_block;

// A row's columns sorted by phase modulo n: to[n][pitch] = from[n * tiles + n], in whole vectors.
static void K_winograd_sort(const float* from, ptrdiff_t n, ptrdiff_t tiles, float* to, ptrdiff_t pitch) {
#if K_VW
  for (ptrdiff_t i = 0; i <= tiles; i += K_VW, from += n * K_VW, to += K_VW) {
    const K_vec a = K_LOAD(from), c = K_LOAD(from + K_VW), e = K_EVENS(a, c), o = K_ODDS(a, c);
    if (n == 2) {
      K_STORE(to, e), K_STORE(to + pitch, o);
    } else {
      const K_vec d = K_LOAD(from + 2 * K_VW), f = K_LOAD(from + 3 * K_VW);
      const K_vec g = K_EVENS(d, f), h = K_ODDS(d, f);
      K_STORE(to, K_EVENS(e, g)), K_STORE(to + pitch, K_EVENS(o, h));
      K_STORE(to + 2 * pitch, K_ODDS(e, g)), K_STORE(to + 3 * pitch, K_ODDS(o, h));
    }
  }
#else
  for (ptrdiff_t i = 0; i < n * (tiles + 1); ++i) to[i % n * pitch + i / n] = from[i];
#endif
}

// The rows of channel c that a block reads, strip[row][n][pitch]. Rows outside the image are zero already.
static void K_winograd_strip(
    const K_winograd_shape* p, const K_winograd_block* b, const float* x, ptrdiff_t c) {
  const ptrdiff_t n = p->n, ix = b->column * n + p->left, before = ix < 0 ? -ix : 0;
  const ptrdiff_t end = n * b->wide + 2, wide = K_least(end, p->w - ix);
  for (ptrdiff_t r = 0; wide > before && r < n * b->high + 2; ++r) {
    const ptrdiff_t iy = b->row * n + p->top + r, at = (c * p->h + iy) * p->w + ix;
    float* to = b->strip + r * n * p->pitch;
    if (iy < 0 || iy >= p->h) continue;
    // Not beyond the ends of the whole image.
    if (at < 0 || at + n * (b->wide + K_SOME) > p->channels * p->h * p->w) {
      K_copy(b->line + before, x + at + before, wide - before);
      K_winograd_sort(b->line, n, b->wide, to, p->pitch);
      continue;
    }
    K_winograd_sort(x + at, n, b->wide, to, p->pitch);
    for (ptrdiff_t i = 0; i < before; ++i) to[i % n * p->pitch + i / n] = 0.0f;
    for (ptrdiff_t i = wide; i < end; ++i) to[i % n * p->pitch + i / n] = 0.0f;
  }
}

// Transformed tiles v[place][channel][ldb].
static void K_winograd_inputs(const K_winograd_shape* p, const K_winograd_block* b, const float* x) {
  const ptrdiff_t n = p->n;
  memset(b->strip, 0, (size_t)(p->rows * n * p->pitch) * sizeof(float));
  memset(b->line, 0, (size_t)(n * p->pitch) * sizeof(float));
  for (ptrdiff_t c = 0; c < p->channels; ++c) {
    K_winograd_strip(p, b, x, c);
    for (ptrdiff_t i = 0, run; i < b->count; i += run) {
      const ptrdiff_t at = (b->first + i) % b->across, row = (b->first + i) / b->across - b->row;
      run = K_least(b->across - at, b->count - i);
      // The last ones fill up the last 16.
      p->in(b->strip + row * n * n * p->pitch + at - b->column, p->pitch,
          i + run < b->count ? run : b->groups * K_LANES - i, b->t, b->v + c * p->ldb + i, b->v_step);
    }
  }
}

// m[place][panel][16 tiles][6][16] = weights of `panels` panels, those of height 6 first, times v.
static void K_winograd_products(
    const K_winograd_shape* p, const K_winograd_block* b, const float* w, ptrdiff_t sixes, ptrdiff_t panels) {
  const float none[12] = {0};
  const ptrdiff_t c = p->channels, next = b->groups * 6 * K_LANES;
  const K_tiles q = {.k = c, .ldb = p->ldb, .ldy = K_LANES, .lo = -INFINITY, .hi = INFINITY, .first = 1};
  for (ptrdiff_t s = 0; s < b->places; ++s) {
    for (ptrdiff_t g = 0, two = 0; g < b->groups; g += 1 + two) {
      const float *const v = b->v + s * b->v_step + g * K_LANES, *from = w;
      float* m = b->m + s * b->m_step + g * 6 * K_LANES;
      // Groups at once.
      two = 0;
      //@ when panel12
#if K_WIDE
      two = b->count - (g + 1) * K_LANES > 8;
#endif
      //@ end
      for (ptrdiff_t i = 0; i < panels; ++i, m += next) {
        const ptrdiff_t height = i < sixes ? 6 : 4;
        //@ when micro12
#if K_VW == 8
        if (i + 1 < sixes && b->count - g * K_LANES <= 8) {
          const float* const own = from + 6 * s * c;
          float t[12 * K_LANES];
          K_micro12(c, own, own + 6 * b->places * c, v, p->ldb, t);
          memcpy(m, t, sizeof(float) * 6 * K_LANES);
          memcpy(m += next, t + 6 * K_LANES, sizeof(float) * 6 * K_LANES);
          from += 12 * b->places * c;
          ++i;
          continue;
        }
#endif
        //@ end
        //@ when panel12
#if K_WIDE
        if (two && i + 1 < sixes) {
          const float* const own = from + 6 * s * c;
          K_panel12(&q, own, own + 6 * b->places * c, v, none, m, next, 6 * K_LANES);
          from += 12 * b->places * c;
          m += next;
          ++i;
          continue;
        }
#endif
        //@ end
        for (ptrdiff_t h = 0; h <= two; ++h)
          (height == 6 ? K_panel6 : K_panel4)(
              &q, from + s * height * c, v + h * K_LANES, none, m + h * 6 * K_LANES);
        from += height * b->places * c;
      }
    }
  }
}

// One result as the sum that it is.
static float K_winograd_direct(
    const K_winograd_shape* p, const float* x, const float* w, ptrdiff_t oy, ptrdiff_t ox) {
  float sum = 0;
  for (ptrdiff_t c = 0; c < p->channels; ++c, x += p->h * p->w, w += 9) {
    for (ptrdiff_t k = 0; k < 9; ++k) {
      const ptrdiff_t iy = oy + p->top + k / 3, ix = ox + p->left + k % 3;
      if (iy >= 0 && iy < p->h && ix >= 0 && ix < p->w) sum += w[k] * x[iy * p->w + ix];
    }
  }
  return sum;
}

// One channel's results of the block, to b->y[n][n * tile]; 1: some are no numbers.
static int K_winograd_results(
    const K_winograd_shape* p, const K_winograd_block* b, const float* m, float bias, float lo, float hi) {
  K_some bad = {0};
  int found = 0;
  for (ptrdiff_t i = 0; i < b->count; i += K_SOME) {
    const float* const from = m + i / K_LANES * 6 * K_LANES + i % K_LANES;
    p->out(from, b->m_step, bias, lo, hi, b->y + p->n * i, b->y_step, &bad);
  }
  float lanes[K_SOME];
  memcpy(lanes, &bad, sizeof lanes);
  for (ptrdiff_t i = 0; i < K_SOME; ++i) found |= lanes[i] != 0.0f;
  return found;
}

// From b->y to the channel's plane y; with `x`: results that are no numbers as sums, and all clamped.
static void K_winograd_rows(const K_winograd_shape* p, const K_winograd_block* b, const float* x,
    const float* w, float bias, const K_epilogue* e, float* y, ptrdiff_t channel, ptrdiff_t at) {
  const ptrdiff_t n = p->n;
  for (ptrdiff_t i = 0, run; i < b->count; i += run) {
    const ptrdiff_t tile = b->first + i, oy = tile / b->across * n, ox = tile % b->across;
    run = K_least(b->across - ox, b->count - i);
    const ptrdiff_t wide = K_least(n * run, p->out_w - ox * n);
    for (ptrdiff_t r = 0; r < n && oy + r < p->out_h; ++r) {
      const ptrdiff_t to = (oy + r) * p->out_w + ox * n;
      float* from = b->y + r * b->y_step + n * i;
      for (ptrdiff_t j = 0; x && j < wide; ++j) {
        float v = from[j];
        if (v - v != 0.0f) v = K_winograd_direct(p, x, w, oy + r, ox * n + j) + bias;
        v = v < e->lo ? e->lo : v;
        from[j] = v > e->hi ? e->hi : v;
      }
      K_copy(y + to, from, wide);
      if (e->fn) e->fn(e->args, y + to, channel, to, at + to, wide);
    }
  }
}

static void K_winograd_panels(const K_winograd_shape* p, const K_winograd_block* b, const float* x,
    const float* w, const float* bias, float* y, const K_epilogue* e, ptrdiff_t at) {
  const ptrdiff_t all = p->panels6 + p->panels4, pixels = p->out_h * p->out_w;
  ptrdiff_t row = 0;
  for (ptrdiff_t panel = 0; panel < all; panel += p->block) {
    const ptrdiff_t panels = K_least(all - panel, p->block), sixes = K_least(p->panels6 - panel, panels);
    K_winograd_products(p, b, w + row * p->channels * b->places, sixes, panels);
    for (ptrdiff_t i = 0; i < panels; ++i) {
      const float* m = b->m + i * b->groups * 6 * K_LANES;
      for (ptrdiff_t r = 0; r < (i < sixes ? 6 : 4) && row < p->m; ++r, ++row, m += K_LANES) {
        const float own = bias ? bias[row] : 0.0f, *direct = p->direct + row * p->channels * 9;
        const int bad = K_winograd_results(p, b, m, own, e->lo, e->hi);
        if (bad) K_winograd_results(p, b, m, own, -INFINITY, INFINITY);
        K_winograd_rows(p, b, bad ? x : NULL, direct, own, e, y + row * pixels, row, at + row * pixels);
      }
    }
  }
}

static void K_winograd(const K_winograd_shape* p, const float* x, const float* w, const float* bias, float* y,
    float* scratch, const K_epilogue* e) {
  const ptrdiff_t n = p->n, across = (p->out_w + n - 1) / n;
  K_winograd_block b = {.across = across, .places = (n + 2) * (n + 2), .y_step = n * p->tiles};
  b.v_step = p->channels * p->ldb + (p->channels % 2 == 0 ? 1 : 2) * K_LANES;
  b.m_step = p->block * p->tiles * 6 + K_LANES;
  b.strip = scratch;
  b.line = b.strip + p->rows * n * p->pitch;
  b.t = b.line + n * p->pitch;
  b.v = b.t + (n + 2) * n * p->pitch;
  b.m = b.v + b.places * b.v_step;
  b.y = b.m + b.places * b.m_step;
  for (ptrdiff_t i = 0; i < p->batch; ++i) {
    for (b.first = p->begin; b.first < p->end; b.first += p->tiles) {
      b.count = K_least(p->end - b.first, p->tiles);
      b.groups = (b.count + K_LANES - 1) / K_LANES;
      b.row = b.first / across;
      b.high = (b.first + b.count - 1) / across - b.row + 1;
      b.column = b.high > 1 ? 0 : b.first % across;
      b.wide = b.high > 1 ? across : b.count;
      K_winograd_inputs(p, &b, x);
      K_winograd_panels(p, &b, x, w, bias, y, e, i * p->m * p->out_h * p->out_w);
    }
    x += p->channels * p->h * p->w;
    y += p->m * p->out_h * p->out_w;
  }
}
