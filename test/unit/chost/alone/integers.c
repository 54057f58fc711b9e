/* kernels: integer_conv integer_few integer_depthwise integer_matrix
 * Products of bytes: x unsigned once `flip` is taken of it, w signed, zero points of w by rows. */
#include "draw.h"

/* What becomes of sums, for `rows` rows, and a copy for whole tiles of `tile` rows in each of `groups`. */
typedef struct rows_of_weights {
  ptrdiff_t rows, all;
  float* scale;
  uint32_t *bias, *centre;
  K_scales e;
} rows_of_weights;

static rows_of_weights drawn_rows(ptrdiff_t groups, ptrdiff_t m, ptrdiff_t tile) {
  rows_of_weights r = {.rows = (m + tile - 1) / tile * tile};
  r.all = groups * r.rows;
  r.scale = (float*)malloc((size_t)(r.all + 16) * sizeof(float));
  r.bias = (uint32_t*)malloc((size_t)(r.all + 16) * sizeof(uint32_t));
  r.centre = (uint32_t*)malloc((size_t)(r.all + 16) * sizeof(uint32_t));
  const int centred = (int)draw(0, 1), scaled = (int)draw(0, 2) > 0;
  for (ptrdiff_t i = 0; i < r.all + 16; ++i) {
    r.scale[i] = (float)draw(1, 40) / 65536.0f;
    r.bias[i] = (uint32_t)draw(-30000, 30000);
    r.centre[i] = centred ? (uint32_t)draw(-128, 127) : 0;
  }
  const K_scales e = {.scale = scaled ? r.scale : NULL,
                      .bias = r.bias,
                      .centre = centred ? r.centre : NULL,
                      .lo = draw(0, 1) ? -7.0f : 0.0f,
                      .hi = draw(0, 1) ? 245.0f : 90.0f,
                      .zero = 7};
  r.e = e;
  return r;
}

static void end_rows(const rows_of_weights* r) {
  free(r->scale), free(r->bias), free(r->centre);
}

static uint8_t* bytes(ptrdiff_t n) {
  uint8_t* x = (uint8_t*)malloc((size_t)n + 64);
  for (ptrdiff_t i = 0; i < n + 64; ++i) x[i] = (uint8_t)draw(0, 255);
  return x;
}

/* Compares result `at`, a byte or 32 bits, with what becomes of `sum`, that of (w - zero point) x. */
static void check(const char* what, const rows_of_weights* r, ptrdiff_t row, uint32_t sum, const uint8_t* y,
                  ptrdiff_t at) {
  uint32_t got = y[at], wanted = sum + r->bias[row];
  if (r->e.scale) {
    float v = (float)(int32_t)wanted * r->scale[row];
    v = v > r->e.lo ? v : r->e.lo;
    v = v < r->e.hi ? v : r->e.hi;
    wanted = (uint32_t)((int)nearbyintf(v) + r->e.zero);
  } else {
    memcpy(&got, y + 4 * at, sizeof got);
  }
  if (got == wanted) return;
  if (++differences <= 10)
    printf("%s: element %d of row %d is %d, not %d\n", what, (int)at, (int)row, (int)got, (int)wanted);
}

static const uint32_t flips[2] = {0, 0x80808080u};

static int32_t read_byte(const window* d, const uint8_t* plane, ptrdiff_t oy, ptrdiff_t ox, ptrdiff_t t,
                         int outside, uint32_t flip) {
  const ptrdiff_t iy = oy * d->stride_h + t / d->kernel_w * d->dilation_h - d->pad_h;
  const ptrdiff_t ix = ox * d->stride_w + t % d->kernel_w * d->dilation_w - d->pad_w;
  const int inside = iy >= 0 && iy < d->h && ix >= 0 && ix < d->w;
  return (int32_t)((inside ? plane[iy * d->w + ix] : (uint8_t)outside) ^ (flip & 255u));
}

/* Quads of `height` rows from `row` on, [depth][height]; rows beyond `m` are zeros, weights beyond `depth`
 * zero points. */
static uint32_t* pack_quads(const int8_t* w, const rows_of_weights* r, ptrdiff_t first, ptrdiff_t row,
                            ptrdiff_t m, ptrdiff_t depth, ptrdiff_t height, uint32_t* to) {
  for (ptrdiff_t q = 0; q < (depth + 3) / 4; ++q) {
    for (ptrdiff_t i = row; i < row + height; ++i) {
      uint32_t quad = 0;
      for (ptrdiff_t k = 4 * q; i < m && k < 4 * q + 4; ++k) {
        const uint32_t zero = r->centre[first + i];
        quad |= ((k < depth ? (uint32_t)w[i * depth + k] : zero) & 255u) << 8 * (k - 4 * q);
      }
      *to++ = quad;
    }
  }
  return to;
}

static void test_conv(int few) {
  window d = drawn_window(1, few ? 5 : 40);
  if (few) d.out_h = draw(1, 4), d.h = drawn_extent(d.out_h, d.stride_h, d.kernel_h, d.dilation_h, d.pad_h);
  const int direct = draw(0, 3) == 0;
  if (direct) {
    d.kernel_h = d.kernel_w = d.stride_h = d.stride_w = 1, d.pad_h = d.pad_w = 0;
    d.h = d.out_h, d.w = d.out_w, d.channels = draw(1, 30);
  }
  const ptrdiff_t taps = d.kernel_h * d.kernel_w, depth = d.channels * taps, pixels = d.out_h * d.out_w,
                  rest = d.m % 6;
  const rows_of_weights r = drawn_rows(d.groups, d.m, few ? 16 : 1);
  K_integer_shape p = {
      .batch = d.batch, .groups = d.groups, .channels = d.channels, .h = d.h, .w = d.w, .m = d.m};
  p.out_h = d.out_h, p.out_w = d.out_w, p.stride_h = d.stride_h, p.stride_w = d.stride_w, p.taps = taps;
  p.depth = (depth + 3) / 4, p.panels6 = d.m / 6 + (rest == 5), p.panels4 = rest >= 1 && rest <= 4;
  p.ldb = few ? (pixels + 15) / 16 * 16 : 32 * draw(1, 3), p.top = -d.pad_h, p.left = -d.pad_w;
  p.reach = (d.kernel_h - 1) * d.dilation_h,
  p.pitch = d.out_w + (d.kernel_w - 1) * d.dilation_w / d.stride_w + 16;
  p.flip = flips[draw(0, 1)], p.outside = (int)draw(0, 255), p.direct = direct;
  int tap[16];
  for (ptrdiff_t t = 0; t < taps; ++t) {
    const ptrdiff_t y = t / d.kernel_w * d.dilation_h, x = t % d.kernel_w * d.dilation_w;
    tap[t] = (int)((y * d.stride_w + x % d.stride_w) * p.pitch + x / d.stride_w);
  }
  p.tap = tap;
  const ptrdiff_t strip = ((p.ldb / d.out_w + 2) * d.stride_h + p.reach + 1) * d.stride_w * p.pitch;
  uint8_t *x = bytes(d.batch * d.groups * d.channels * d.h * d.w),
          *y = bytes(4 * d.batch * d.groups * d.m * pixels);
  int8_t* w = (int8_t*)bytes(d.groups * d.m * depth);
  uint32_t* quads = (uint32_t*)(void*)bytes(4 * p.depth * d.groups * (d.m + 32));
  uint8_t* scratch = bytes(4 * p.depth * p.ldb + 4 * (p.ldb + 16) + strip + 32);
  uint32_t* to = quads;
  for (ptrdiff_t g = 0; g < d.groups; ++g) {
    for (ptrdiff_t row = 0, height; row < d.m; row += height) {
      height = few ? 16 : row < 6 * p.panels6 ? 6 : 4;
      to = pack_quads(w + g * d.m * depth, &r, g * r.rows, row, d.m, depth, height, to);
    }
  }
  (few ? K_integer_few : K_integer_conv)(&p, x, quads, y, scratch, &r.e);
  for (ptrdiff_t i = 0; i < d.batch * d.groups * d.m * pixels; ++i) {
    const ptrdiff_t pixel = i % pixels, m = i / pixels % d.m, image = i / pixels / d.m, g = image % d.groups;
    uint32_t sum = 0;
    for (ptrdiff_t k = 0; k < depth; ++k) {
      const uint8_t* plane = x + (image * d.channels + k / taps) * d.h * d.w;
      const int32_t weight = w[(g * d.m + m) * depth + k] - (int32_t)r.centre[g * r.rows + m];
      sum += (uint32_t)(weight *
                        read_byte(&d, plane, pixel / d.out_w, pixel % d.out_w, k % taps, p.outside, p.flip));
    }
    check(few ? "integer_few" : "integer_conv", &r, g * r.rows + m, sum, y, i);
  }
  end_rows(&r);
  free(x), free(y), free(w), free(quads), free(scratch);
}

static void test_depthwise(void) {
  const window d = drawn_window(1, 40);
  const ptrdiff_t multiplier = draw(1, 2), all = d.channels * multiplier, pixels = d.out_h * d.out_w;
  const ptrdiff_t taps = d.kernel_h * d.kernel_w, groups = (d.kernel_w + 3) / 4;
  const rows_of_weights r = drawn_rows(1, all, 1);
  K_integer_depthwise_shape p = {
      .batch = d.batch, .channels = d.channels, .multiplier = multiplier, .h = d.h};
  p.w = d.w, p.out_h = d.out_h, p.out_w = d.out_w, p.kernel_h = d.kernel_h, p.groups = groups;
  p.stride_h = d.stride_h, p.stride_w = d.stride_w, p.pad_h = d.pad_h, p.pad_w = d.pad_w;
  p.pitch = d.out_w + (d.kernel_w - 1) * d.dilation_w / d.stride_w;
  p.phase = (d.out_h + (d.kernel_h - 1) * d.dilation_h / d.stride_h) * p.pitch;
  p.flip = flips[draw(0, 1)], p.outside = (int)draw(0, 255);
  int column[4], tap[4];
  for (ptrdiff_t k = 0; k < 4; ++k) {
    const ptrdiff_t x = (k < d.kernel_w ? k : 0) * d.dilation_w;
    column[k] = (int)(x % d.stride_w * p.phase + x / d.stride_w);
  }
  for (ptrdiff_t k = 0; k < d.kernel_h; ++k) {
    const ptrdiff_t y = k * d.dilation_h;
    tap[k] = (int)(y % d.stride_h * p.phase + y / d.stride_h * p.pitch);
  }
  p.column = column, p.tap = tap;
  uint8_t *x = bytes(d.batch * d.channels * d.h * d.w), *y = bytes(4 * d.batch * all * pixels);
  int8_t* w = (int8_t*)bytes(all * taps);
  uint32_t* quads = (uint32_t*)(void*)bytes(4 * all * d.kernel_h * groups);
  uint8_t* scratch = bytes(4 * (groups * d.stride_h * p.phase + 32) + (p.phase + 32) * 4 +
                           d.stride_h * d.stride_w * p.phase + p.pitch + 16);
  for (ptrdiff_t i = 0; i < all * d.kernel_h; ++i) {
    quads[i] = 0;
    for (ptrdiff_t k = 0; k < 4; ++k) {
      const uint32_t zero = r.centre[i / d.kernel_h];
      quads[i] |= ((k < d.kernel_w ? (uint32_t)w[i * d.kernel_w + k] : zero) & 255u) << 8 * k;
    }
  }
  K_integer_depthwise(&p, x, quads, y, scratch, &r.e);
  for (ptrdiff_t i = 0; i < d.batch * all * pixels; ++i) {
    const ptrdiff_t pixel = i % pixels, c = i / pixels % all;
    const uint8_t* plane = x + i / pixels / multiplier * d.h * d.w;
    uint32_t sum = 0;
    for (ptrdiff_t t = 0; t < taps; ++t) {
      const int32_t weight = w[c * taps + t] - (int32_t)r.centre[c];
      sum +=
          (uint32_t)(weight * read_byte(&d, plane, pixel / d.out_w, pixel % d.out_w, t, p.outside, p.flip));
    }
    check("integer_depthwise", &r, c, sum, y, i);
  }
  end_rows(&r);
  free(x), free(y), free(w), free(quads), free(scratch);
}

static void test_matrix(void) {
  const ptrdiff_t n = draw(1, 9), k = draw(1, 70), m = draw(1, 100), depth = (k + 3) / 4;
  const uint32_t flip = flips[draw(0, 1)];
  const rows_of_weights r = drawn_rows(1, m, 16);
  uint8_t *x = bytes(n * k), *y = bytes(4 * n * m), *scratch = bytes(16 * depth);
  int8_t* w = (int8_t*)bytes(m * k);
  uint32_t *quads = (uint32_t*)(void*)bytes(4 * depth * r.rows), *to = quads;
  for (ptrdiff_t row = 0; row < m; row += 16) to = pack_quads(w, &r, 0, row, m, k, 16, to);
  K_integer_matrix(n, k, m, flip, x, quads, y, scratch, &r.e);
  for (ptrdiff_t i = 0; i < n * m; ++i) {
    uint32_t sum = 0;
    for (ptrdiff_t q = 0; q < k; ++q)
      sum += (uint32_t)((w[i % m * k + q] - (int32_t)r.centre[i % m]) *
                        (int32_t)(x[i / m * k + q] ^ (flip & 255u)));
    check("integer_matrix", &r, i % m, sum, y, i);
  }
  end_rows(&r);
  free(x), free(y), free(w), free(quads), free(scratch);
}

int main(void) {
  for (int i = 0; i < 150; ++i) {
    test_conv(0);
    test_conv(1);
    test_depthwise();
    test_matrix();
  }
  return differences != 0;
}
