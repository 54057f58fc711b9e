/* kernels: conv conv_rows winograd2 winograd4 winograd
 * switches: copy_step conv_rest micro12 panel12 half_panels
 * Convolutions with panels of weights: gathered columns, rows of a strip, Winograd's tiles. */
#define WITH_EPILOGUE
#include "draw.h"

static ptrdiff_t least_of(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

static ptrdiff_t rounded_up(ptrdiff_t n, ptrdiff_t to) {
  return (n + to - 1) / to * to;
}

/* Rows of weights in panels of six, and at most one of four: panel[k][rows], groups one behind the other. */
typedef struct panels {
  ptrdiff_t six, four, rows;
} panels;

static panels panels_of(ptrdiff_t m) {
  const ptrdiff_t rest = m % 6, is_four = rest >= 1 && rest <= 4;
  const panels p = {.six = m / 6 + (rest == 5),
                    .four = is_four,
                    .rows = m / 6 * 6 + (rest == 5 ? 6
                                         : is_four ? 4
                                                   : 0)};
  return p;
}

/* w[group][m][depth]. With `halves`, numbers of 16 bits two a float. */
static float* packed_weights(const float* w, ptrdiff_t groups, ptrdiff_t m, ptrdiff_t depth, int halves) {
  const panels p = panels_of(m);
  const ptrdiff_t all = groups * p.rows * depth;
  float *to = numbers(all), *half = numbers(all);
  uint16_t* bits = (uint16_t*)(void*)half;
  for (ptrdiff_t g = 0, at = 0; g < groups; ++g) {
    for (ptrdiff_t row = 0, height; row < p.rows; row += height) {
      height = row < 6 * p.six ? 6 : 4;
      for (ptrdiff_t k = 0; k < depth; ++k)
        for (ptrdiff_t r = row; r < row + height; ++r) to[at++] = r < m ? w[(g * m + r) * depth + k] : 0.0f;
    }
  }
  for (ptrdiff_t i = 0; i < all; ++i) {
    int exponent = 0;
    const float fraction = frexpf(fabsf(to[i]), &exponent);
    const int magnitude = to[i] == 0.0f ? 0 : (exponent + 14) << 10 | (int)((fraction * 2 - 1) * 1024);
    bits[i] = (uint16_t)((to[i] < 0 ? 0x8000 : 0) | magnitude);
  }
  free(halves ? to : half);
  return halves ? half : to;
}

static float* wanted_conv(const window* d, const float* x, const float* w, const float* bias,
                          const K_epilogue* e) {
  const ptrdiff_t pixels = d->out_h * d->out_w;
  float* y = nothing(d->batch * d->groups * d->m * pixels);
  for (ptrdiff_t i = 0; i < d->batch * d->groups * d->m * pixels; ++i) {
    const ptrdiff_t pixel = i % pixels, m = i / pixels % d->m, g = i / pixels / d->m % d->groups;
    const ptrdiff_t channel = g * d->m + m;
    const float sum =
        conv_of(d, x, w, i / pixels / d->m / d->groups, g, m, pixel / d->out_w, pixel % d->out_w);
    y[i] = finished(e, sum + (bias ? bias[channel] : 0.0f), channel, pixel, i);
  }
  return y;
}

/* Operands of a convolution, and what it gives. */
typedef struct job {
  window d;
  K_epilogue e;
  ptrdiff_t results, taps;
  float *x, *w, *bias, *y, *wanted;
  const float* bias_or_none;
} job;

static job drawn_job(window d) {
  job j = {.d = d, .e = drawn_epilogue(), .taps = d.kernel_h * d.kernel_w};
  j.results = d.batch * d.groups * d.m * d.out_h * d.out_w;
  j.x = numbers(d.batch * d.groups * d.channels * d.h * d.w);
  j.w = numbers(d.groups * d.m * d.channels * j.taps);
  j.bias = numbers(d.groups * d.m);
  j.bias_or_none = draw(0, 1) ? j.bias : NULL;
  j.y = nothing(j.results);
  j.wanted = wanted_conv(&d, j.x, j.w, j.bias_or_none, &j.e);
  return j;
}

/* One input that spoils what shares a transform with it, but for those who do not read it. */
static void make_infinite(job* j) {
  const window* d = &j->d;
  j->x[draw(0, d->batch * d->groups * d->channels * d->h * d->w - 1)] = INFINITY;
  free(j->wanted);
  j->wanted = wanted_conv(d, j->x, j->w, j->bias_or_none, &j->e);
}

static void end_job(const job* j, const char* what, float tolerance) {
  compare(what, j->y, j->wanted, j->results, tolerance);
  free(j->x), free(j->w), free(j->bias), free(j->y), free(j->wanted);
}

/* Taps of K_conv: rows are shared by all taps, or those of one row of taps are copied at a time. */
static void set_taps(const window* d, int shared, ptrdiff_t pitch, int* tap) {
  const ptrdiff_t reach = (d->kernel_h - 1) * d->dilation_h;
  for (ptrdiff_t t = 0; t < d->kernel_h * d->kernel_w; ++t, tap += 3) {
    const ptrdiff_t row = t / d->kernel_w * d->dilation_h, column = t % d->kernel_w * d->dilation_w;
    tap[0] = (int)(shared ? -d->pad_h : row - d->pad_h);
    tap[1] = (int)(shared ? reach : 0);
    tap[2] = (int)(((shared ? row : 0) * d->stride_w + column % d->stride_w) * pitch + column / d->stride_w);
  }
}

static void test_conv(int halves) {
  window d = drawn_window(1, 40);
#if !ON_copy_step
  d.stride_w = 1, d.w = drawn_extent(d.out_w, 1, d.kernel_w, d.dilation_w, d.pad_w);
#endif
  const int direct = draw(0, 3) == 0;
  if (direct) {
    d.kernel_h = d.kernel_w = d.stride_h = d.stride_w = 1, d.pad_h = d.pad_w = 0;
    d.h = d.out_h, d.w = d.out_w, d.channels = draw(1, 30);
  }
  const job j = drawn_job(d);
  const ptrdiff_t pixels = d.out_h * d.out_w, depth = d.channels * j.taps;
  const panels rows = panels_of(d.m);
  const int shared = (int)draw(0, 1);
  K_conv_shape p = {
      .batch = d.batch, .groups = d.groups, .channels = d.channels, .h = d.h, .w = d.w, .m = d.m};
  p.out_h = d.out_h, p.out_w = d.out_w, p.stride_h = d.stride_h, p.stride_w = d.stride_w, p.taps = j.taps;
  p.panels6 = rows.six, p.panels4 = rows.four, p.block_k = draw(1, depth), p.ldb = 16 * draw(1, 4);
  p.left = -d.pad_w, p.pitch = d.out_w + (d.kernel_w - 1) * d.dilation_w / d.stride_w + 8;
  p.shared = shared, p.direct = direct ? (int)draw(1, 2) : 0, p.end = pixels;
  int tap[48];
  set_taps(&d, shared, p.pitch, tap);
  p.tap = tap;
  const ptrdiff_t strip_rows = (p.ldb / d.out_w + 2) * d.stride_h + (d.kernel_h - 1) * d.dilation_h + 1;
  float* scratch = nothing(p.block_k * p.ldb + 8 + strip_rows * d.stride_w * p.pitch);
  float* weights = packed_weights(j.w, d.groups, d.m, depth, halves);
  float* unpacked = nothing(12 * p.block_k);
#if ON_half_panels
  p.unpacked = halves ? unpacked : NULL, p.second = 6 * p.block_k;
#endif
  /* In parts, which begin at multiples of 16. Behind the results of one part others are not touched. */
  const ptrdiff_t middle = draw(0, 1) ? 0 : least_of(16 * draw(0, 5), pixels);
  p.end = middle;
  if (middle > 0) K_conv(&p, j.x, weights, j.bias_or_none, j.y, scratch, &j.e);
  p.begin = middle, p.end = pixels;
  if (middle < pixels) K_conv(&p, j.x, weights, j.bias_or_none, j.y, scratch, &j.e);
  end_job(&j, halves ? "conv of halves" : "conv", 0.0f);
  free(scratch), free(weights), free(unpacked);
}

static void test_conv_rows(int halves) {
  window d = drawn_window(8, 40);
#if !ON_copy_step
  d.stride_w = 1, d.w = drawn_extent(d.out_w, 1, d.kernel_w, d.dilation_w, d.pad_w);
#endif
  const job j = drawn_job(d);
  const panels rows = panels_of(d.m);
  const ptrdiff_t in_row = (d.out_w + 7) / 8, pieces = d.out_h * in_row;
  K_conv_rows_shape p = {
      .batch = d.batch, .groups = d.groups, .channels = d.channels, .h = d.h, .w = d.w, .m = d.m};
  p.out_h = d.out_h, p.out_w = d.out_w, p.stride_h = d.stride_h, p.stride_w = d.stride_w, p.taps = j.taps;
  p.panels6 = rows.six, p.panels4 = rows.four, p.block_channels = draw(1, d.channels),
  p.pieces = 2 * draw(1, 16);
  p.left = -d.pad_w, p.top = -d.pad_h, p.reach = (d.kernel_h - 1) * d.dilation_h + 1, p.end = pieces;
  p.pitch = 8 * in_row + (d.kernel_w - 1) * d.dilation_w / d.stride_w + 1;
  const ptrdiff_t strip_rows =
      least_of(d.out_h, (p.pieces + in_row - 1) / in_row + 1) + (d.kernel_h - 1) * d.dilation_h / d.stride_h;
  p.plane = d.stride_h * d.stride_w * strip_rows * p.pitch;
  int tap[16];
  for (ptrdiff_t t = 0; t < j.taps; ++t) {
    const ptrdiff_t y = t / d.kernel_w * d.dilation_h, x = t % d.kernel_w * d.dilation_w;
    const ptrdiff_t phase = y % d.stride_h * d.stride_w + x % d.stride_w;
    tap[t] = (int)((phase * strip_rows + y / d.stride_h) * p.pitch + x / d.stride_w);
  }
  p.tap = tap;
  float* strip = nothing(p.block_channels * (p.plane + j.taps));
  float* weights = packed_weights(j.w, d.groups, d.m, d.channels * j.taps, halves);
  float* unpacked = nothing(6 * p.block_channels * j.taps);
#if ON_half_panels
  p.unpacked = halves ? unpacked : NULL;
#endif
  K_conv_rows(&p, j.x, weights, j.bias_or_none, j.y, strip, &j.e);
  end_job(&j, halves ? "conv_rows of halves" : "conv_rows", 0.0f);
  free(strip), free(weights), free(unpacked);
}

/* G w G' for one dimension: a weight for each place from three taps. The points are those of
 * kernels/winograd.c. */
static void transformed(ptrdiff_t n, const float* w, double* to) {
  static const double points[] = {0, 0.625, -0.625, 1.5, -1.5}, few[] = {0, 1, -1};
  const double* p = n == 4 ? points : few;
  for (ptrdiff_t i = 0; i < n + 1; ++i) {
    double scale = 1;
    for (ptrdiff_t k = 0; k < n + 1; ++k) scale *= k == i ? 1 : p[i] - p[k];
    to[i] = ((double)w[0] + p[i] * (double)w[1] + p[i] * p[i] * (double)w[2]) / scale;
  }
  to[n + 1] = (double)w[2];
}

static float* winograd_weights(const window* d, ptrdiff_t n, const float* w) {
  const ptrdiff_t s = n + 2, places = s * s;
  const panels p = panels_of(d->m);
  float* to = numbers(p.rows * d->channels * places);
  for (ptrdiff_t i = 0; i < p.rows * d->channels; ++i) {
    const ptrdiff_t row = i / d->channels, c = i % d->channels, is_four = row >= 6 * p.six;
    const ptrdiff_t first = is_four ? 6 * p.six : row / 6 * 6, height = is_four ? 4 : 6;
    double down[6][3] = {{0}}, across[6];
    for (ptrdiff_t x = 0; x < 3 && row < d->m; ++x) {
      const float column[3] = {w[i * 9 + x], w[i * 9 + 3 + x], w[i * 9 + 6 + x]};
      transformed(n, column, across);
      for (ptrdiff_t k = 0; k < s; ++k) down[k][x] = across[k];
    }
    for (ptrdiff_t k = 0; k < s; ++k) {
      const float line[3] = {(float)down[k][0], (float)down[k][1], (float)down[k][2]};
      transformed(n, line, across);
      for (ptrdiff_t q = 0; q < s; ++q)
        to[first * d->channels * places + ((k * s + q) * d->channels + c) * height + row - first] =
            (float)across[q];
    }
  }
  return to;
}

static void test_winograd(ptrdiff_t n) {
  window d = drawn_window(1, 50);
  d.groups = d.stride_h = d.stride_w = d.dilation_h = d.dilation_w = 1, d.kernel_h = d.kernel_w = 3;
  d.h = drawn_extent(d.out_h, 1, 3, 1, d.pad_h), d.w = drawn_extent(d.out_w, 1, 3, 1, d.pad_w);
  job j = drawn_job(d);
  if (draw(0, 2) == 0) make_infinite(&j);
  const panels rows = panels_of(d.m);
  const ptrdiff_t places = (n + 2) * (n + 2), across = (d.out_w + n - 1) / n, down = (d.out_h + n - 1) / n;
  K_winograd_shape p = {.batch = d.batch, .channels = d.channels, .h = d.h, .w = d.w, .m = d.m, .n = n};
  p.out_h = d.out_h, p.out_w = d.out_w, p.panels6 = rows.six, p.panels4 = rows.four, p.block = draw(1, 4);
  p.top = -d.pad_h, p.left = -d.pad_w, p.tiles = 16 * draw(1, 3), p.ldb = p.tiles + 16 * draw(0, 1);
  p.block = least_of(p.block, rows.six + rows.four);
  p.rows = n * least_of(down, (p.tiles + across - 1) / across + 1) + 2;
  p.pitch = rounded_up(least_of(across, p.tiles) + 33, 8), p.direct = j.w, p.end = across * down;
  p.in = n == 4 ? K_winograd4_in : K_winograd2_in, p.out = n == 4 ? K_winograd4_out : K_winograd2_out;
  float* weights = winograd_weights(&d, n, j.w);
  float* scratch = nothing((p.rows + n + 3) * n * p.pitch + places * (d.channels * p.ldb + 32) +
                           places * (p.block * p.tiles * 6 + 16) + n * n * p.tiles);
  K_winograd(&p, j.x, weights, j.bias_or_none, j.y, scratch, &j.e);
  end_job(&j, n == 4 ? "winograd4" : "winograd2", 1e-3f);
  free(weights), free(scratch);
}

int main(void) {
  for (int i = 0; i < 120; ++i) {
    test_conv(0);
    test_conv_rows(0);
#if ON_half_panels
    test_conv(1);
    test_conv_rows(1);
#endif
    test_winograd(2);
    test_winograd(4);
  }
  return differences != 0;
}
