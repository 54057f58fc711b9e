//@ piece conv: epilogue tile micro6 micro4
/* Convolution of one image by blocks of output pixels: columns of the input are gathered into b[k][ldb], then
 * every panel of output channels (six and four at a time) is multiplied with every 16 pixels. tap[4 * t +
 * (0..3)]: offset in rows, offset in columns, first and last + 1 output column that reads inside the image.
 */
typedef struct K_conv_shape {
  ptrdiff_t batch, groups, channels, h, w; /* channels: of one group */
  ptrdiff_t m, out_h, out_w;               /* m: output channels of one group */
  ptrdiff_t stride_h, stride_w, taps, panels6, panels4, block_k, ldb;
  const int* tap;
  int direct; /* 1x1, stride 1, no padding: read the image in place */
} K_conv_shape;

static void K_conv_zero(float* b, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; ++i) b[i] = 0.0f;
}

/* One run of output columns [ox, ox + n) of a row, for one tap; src is the row of the input. */
static void K_conv_run(const float* src, ptrdiff_t stride, const int* tap, ptrdiff_t ox, ptrdiff_t n,
                       float* b) {
  ptrdiff_t lo = tap[2] - ox, hi = tap[3] - ox;
  lo = lo < 0 ? 0 : lo > n ? n : lo;
  hi = hi < lo ? lo : hi > n ? n : hi;
  K_conv_zero(b, lo);
  if (hi > lo) {
    const float* s = src + ((ox + lo) * stride + tap[1]);
    float* to = b + lo;
    const ptrdiff_t count = hi - lo;
    if (stride == 1) {
      for (ptrdiff_t i = 0; i < count; ++i) to[i] = s[i];
    } else if (stride == 2) {
      for (ptrdiff_t i = 0; i < count; ++i) to[i] = s[2 * i];
    } else {
      for (ptrdiff_t i = 0; i < count; ++i) to[i] = s[stride * i];
    }
  }
  K_conv_zero(b + hi, n - hi);
}

static void K_conv_gather(const K_conv_shape* p, const float* x, ptrdiff_t k0, ptrdiff_t kn, ptrdiff_t p0,
                          ptrdiff_t n, float* b) {
  const ptrdiff_t padded = (n + K_LANES - 1) / K_LANES * K_LANES;
  ptrdiff_t c = k0 / p->taps, t = k0 % p->taps;
  for (ptrdiff_t k = 0; k < kn; ++k, b += p->ldb) {
    const float* plane = x + c * p->h * p->w;
    const int* tap = p->tap + 4 * t;
    ptrdiff_t oy = p0 / p->out_w, ox = p0 % p->out_w;
    for (ptrdiff_t done = 0; done < n; ++oy, ox = 0) {
      const ptrdiff_t left = n - done, run = p->out_w - ox < left ? p->out_w - ox : left;
      const ptrdiff_t iy = oy * p->stride_h + tap[0];
      if (iy < 0 || iy >= p->h) {
        K_conv_zero(b + done, run);
      } else {
        K_conv_run(plane + iy * p->w, p->stride_w, tap, ox, run, b + done);
      }
      done += run;
    }
    K_conv_zero(b + n, padded - n);
    if (++t == p->taps) {
      t = 0;
      ++c;
    }
  }
}

/* All panels of channels times the n pixels of one block. */
static void K_conv_block(const K_conv_shape* p, const float* w, ptrdiff_t k0, ptrdiff_t kn, const float* b,
                         ptrdiff_t ldb, const float* bias, float lo, float hi, float* y, ptrdiff_t n) {
  const ptrdiff_t depth = p->channels * p->taps, pixels = p->out_h * p->out_w;
  float t[6 * K_LANES];
  ptrdiff_t row = 0;
  for (ptrdiff_t panel = 0; panel < p->panels6 + p->panels4; ++panel) {
    const ptrdiff_t mr = panel < p->panels6 ? 6 : 4;
    const ptrdiff_t rows = p->m - row < mr ? p->m - row : mr;
    for (ptrdiff_t j = 0; j < n; j += K_LANES) {
      if (mr == 6) {
        K_micro6(kn, w + k0 * 6, 1, 6, b + j, ldb, t);
      } else {
        K_micro4(kn, w + k0 * 4, 1, 4, b + j, ldb, t);
      }
      K_tile(t, rows, n - j < K_LANES ? n - j : K_LANES, y + row * pixels + j, pixels,
             bias ? bias + row : NULL, NULL, lo, hi, k0 == 0);
    }
    w += depth * mr;
    row += mr;
  }
}

static void K_conv_image(const K_conv_shape* p, const float* x, const float* w, const float* bias, float* y,
                         float* b, const K_epilogue* e, ptrdiff_t channel, ptrdiff_t at) {
  const ptrdiff_t depth = p->channels * p->taps, pixels = p->out_h * p->out_w;
  for (ptrdiff_t p0 = 0; p0 < pixels; p0 += p->ldb) {
    const ptrdiff_t n = pixels - p0 < p->ldb ? pixels - p0 : p->ldb;
    for (ptrdiff_t k0 = 0; k0 < depth; k0 += p->block_k) {
      const ptrdiff_t kn = depth - k0 < p->block_k ? depth - k0 : p->block_k;
      const int last = k0 + kn == depth;
      const float lo = last ? e->lo : -INFINITY, hi = last ? e->hi : INFINITY;
      const ptrdiff_t in_place = p->direct ? n / K_LANES * K_LANES : 0;
      if (in_place) {
        K_conv_block(p, w, k0, kn, x + k0 * pixels + p0, pixels, last ? bias : NULL, lo, hi, y + p0,
                     in_place);
      }
      if (in_place < n) {
        K_conv_gather(p, x, k0, kn, p0 + in_place, n - in_place, b);
        K_conv_block(p, w, k0, kn, b, p->ldb, last ? bias : NULL, lo, hi, y + p0 + in_place, n - in_place);
      }
    }
    for (ptrdiff_t m = 0; e->fn && m < p->m; ++m) {
      e->fn(e->args, y + m * pixels + p0, channel + m, p0, at + m * pixels + p0, n);
    }
  }
}

static void K_conv(const K_conv_shape* p, const float* x, const float* w, const float* bias, float* y,
                   float* b, const K_epilogue* e) {
  const ptrdiff_t depth = p->channels * p->taps, pixels = p->out_h * p->out_w;
  const ptrdiff_t weights = depth * (6 * p->panels6 + 4 * p->panels4);
  ptrdiff_t at = 0;
  for (ptrdiff_t n = 0; n < p->batch; ++n) {
    for (ptrdiff_t g = 0; g < p->groups; ++g, at += p->m * pixels) {
      K_conv_image(p, x, w + g * weights, bias ? bias + g * p->m : NULL, y + at, b, e, g * p->m, at);
      x += p->channels * p->h * p->w;
    }
  }
}
