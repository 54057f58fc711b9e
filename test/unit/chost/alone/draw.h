/* Shapes and numbers for the tests of kernels by themselves. Numbers are few bits, so that sums of products
 * are exact in float whatever their order: results are compared for equality. */
#ifndef MRVLC_TEST_ALONE_DRAW_H
#define MRVLC_TEST_ALONE_DRAW_H
#include <stdio.h>
#include <stdlib.h>

static uint64_t state_of_draws = 1;

static ptrdiff_t draw(ptrdiff_t least, ptrdiff_t most) {
  state_of_draws = state_of_draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return least + (ptrdiff_t)((state_of_draws >> 33) % (uint64_t)(most - least + 1));
}

/* Memory of its own, filled with numbers; nothing behind it may be read or written. */
static float* numbers(ptrdiff_t n) {
  float* x = (float*)malloc((size_t)(n > 0 ? n : 1) * sizeof(float));
  for (ptrdiff_t i = 0; i < n; ++i) x[i] = (float)draw(-16, 16) / 8.0f;
  return x;
}

static float* nothing(ptrdiff_t n) {
  float* x = numbers(n);
  for (ptrdiff_t i = 0; i < n; ++i) x[i] = 1e30f;
  return x;
}

static int differences = 0;

static void compare(const char* what, const float* got, const float* wanted, ptrdiff_t n, float tolerance) {
  for (ptrdiff_t i = 0; i < n; ++i) {
    const int is_same = got[i] == wanted[i] || (got[i] != got[i] && wanted[i] != wanted[i]);
    if (is_same || fabsf(got[i] - wanted[i]) <= tolerance) continue;
    if (++differences <= 10)
      printf("%s: element %d of %d is %g, not %g\n", what, (int)i, (int)n, (double)got[i], (double)wanted[i]);
    return;
  }
}

static float clamped(float v, float lo, float hi) {
  return v < lo ? lo : v > hi ? hi : v;
}

/* What is added behind a kernel: the row, column and element of each result, so that all three are seen. */
static float behind_of(ptrdiff_t row, ptrdiff_t col, ptrdiff_t at) {
  return (float)(row % 7 + 2 * (col % 5) + 4 * (at % 3));
}

#if defined(WITH_EPILOGUE)
static void behind(const void* const* args, float* y, ptrdiff_t row, ptrdiff_t col, ptrdiff_t at,
                   ptrdiff_t n) {
  (void)args;
  for (ptrdiff_t i = 0; i < n; ++i) y[i] += behind_of(row, col + i, at + i);
}

static K_epilogue drawn_epilogue(void) {
  const K_epilogue e = {.lo = draw(0, 1) ? -INFINITY : -4.0f,
                        .hi = draw(0, 1) ? INFINITY : 6.0f,
                        .fn = draw(0, 1) ? behind : NULL,
                        .args = NULL};
  return e;
}

static float finished(const K_epilogue* e, float v, ptrdiff_t row, ptrdiff_t col, ptrdiff_t at) {
  return clamped(v, e->lo, e->hi) + (e->fn ? behind_of(row, col, at) : 0.0f);
}
#endif

/* A window over two dimensions with what it is moved over. */
typedef struct window {
  ptrdiff_t batch, groups, channels, m, h, w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w;
  ptrdiff_t dilation_h, dilation_w, pad_h, pad_w;
} window;

static ptrdiff_t drawn_extent(ptrdiff_t out, ptrdiff_t stride, ptrdiff_t kernel, ptrdiff_t dilation,
                              ptrdiff_t pad) {
  const ptrdiff_t n = (out - 1) * stride + (kernel - 1) * dilation + 1 - pad - draw(0, pad);
  return n < 1 ? 1 : n;
}

static window drawn_window(ptrdiff_t least_w, ptrdiff_t most_w) {
  window d = {.batch = draw(1, 2), .groups = draw(1, 2), .channels = draw(1, 5), .m = draw(1, 19)};
  d.out_h = draw(1, 9), d.out_w = draw(least_w, most_w);
  d.kernel_h = draw(1, 4), d.kernel_w = draw(1, 4), d.stride_h = draw(1, 3), d.stride_w = draw(1, 3);
  d.dilation_h = draw(1, 2), d.dilation_w = draw(1, 2), d.pad_h = draw(0, 2), d.pad_w = draw(0, 2);
  d.h = drawn_extent(d.out_h, d.stride_h, d.kernel_h, d.dilation_h, d.pad_h);
  d.w = drawn_extent(d.out_w, d.stride_w, d.kernel_w, d.dilation_w, d.pad_w);
  return d;
}

/* The element of a channel that tap (r, s) of result (oy, ox) reads; `outside` where there is none. */
static float read_of(const window* d, const float* plane, ptrdiff_t oy, ptrdiff_t ox, ptrdiff_t r,
                     ptrdiff_t s, float outside) {
  const ptrdiff_t iy = oy * d->stride_h + r * d->dilation_h - d->pad_h;
  const ptrdiff_t ix = ox * d->stride_w + s * d->dilation_w - d->pad_w;
  return iy >= 0 && iy < d->h && ix >= 0 && ix < d->w ? plane[iy * d->w + ix] : outside;
}

/* A convolution as it is defined: w[group][m][channel][tap]. */
static float conv_of(const window* d, const float* x, const float* w, ptrdiff_t n, ptrdiff_t g, ptrdiff_t m,
                     ptrdiff_t oy, ptrdiff_t ox) {
  const ptrdiff_t taps = d->kernel_h * d->kernel_w;
  float sum = 0.0f;
  for (ptrdiff_t c = 0; c < d->channels; ++c) {
    const float* plane = x + ((n * d->groups + g) * d->channels + c) * d->h * d->w;
    const float* own = w + ((g * d->m + m) * d->channels + c) * taps;
    for (ptrdiff_t t = 0; t < taps; ++t)
      sum += own[t] * read_of(d, plane, oy, ox, t / d->kernel_w, t % d->kernel_w, 0.0f);
  }
  return sum;
}

#endif
