/* kernels: depthwise depthwise3 depthwise_lanes pool_planes
 * switches: copy_step depthwise_windows
 * Windows over one channel at a time: depthwise convolutions and pools. */
#define WITH_EPILOGUE
#include "draw.h"

static ptrdiff_t most_of(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

/* A depthwise convolution as it is defined: each channel has `m` results with weights of their own. */
static float* wanted_depthwise(const window* d, const float* x, const float* w, const float* bias,
                               const K_epilogue* e) {
  const ptrdiff_t pixels = d->out_h * d->out_w, taps = d->kernel_h * d->kernel_w, all = d->channels * d->m;
  float* y = nothing(d->batch * all * pixels);
  for (ptrdiff_t i = 0; i < d->batch * all * pixels; ++i) {
    const ptrdiff_t pixel = i % pixels, c = i / pixels % all, n = i / pixels / all;
    const float* plane = x + (n * d->channels + c / d->m) * d->h * d->w;
    float sum = bias ? bias[c] : 0.0f;
    for (ptrdiff_t t = 0; t < taps; ++t) {
      const ptrdiff_t r = t / d->kernel_w, s = t % d->kernel_w;
      sum += w[c * taps + t] * read_of(d, plane, pixel / d->out_w, pixel % d->out_w, r, s, 0.0f);
    }
    y[i] = finished(e, sum, c, pixel, i);
  }
  return y;
}

typedef struct job {
  window d;
  K_epilogue e;
  ptrdiff_t results;
  float *x, *w, *bias, *y, *wanted;
  const float* bias_or_none;
} job;

static job drawn_job(window d) {
  job j = {.d = d, .e = drawn_epilogue(), .results = d.batch * d.channels * d.m * d.out_h * d.out_w};
  j.x = numbers(d.batch * d.channels * d.h * d.w);
  j.w = numbers(d.channels * d.m * d.kernel_h * d.kernel_w);
  j.bias = numbers(d.channels * d.m);
  j.bias_or_none = draw(0, 1) ? j.bias : NULL;
  j.y = nothing(j.results);
  j.wanted = wanted_depthwise(&d, j.x, j.w, j.bias_or_none, &j.e);
  return j;
}

static void end_job(const job* j, const char* what) {
  compare(what, j->y, j->wanted, j->results, 0.0f);
  free(j->x), free(j->w), free(j->bias), free(j->y), free(j->wanted);
}

/* A channel with its padding, columns by phase; one plane, or two of which the next is filled already. */
static K_plane_shape plane_of(const window* d, int* tap) {
  K_plane_shape p = {.batch = d->batch, .channels = d->channels, .multiplier = d->m, .h = d->h, .w = d->w};
  p.out_h = d->out_h, p.out_w = d->out_w, p.kernel_h = d->kernel_h, p.kernel_w = d->kernel_w;
  p.stride_h = d->stride_h, p.stride_w = d->stride_w, p.dilation_h = d->dilation_h,
  p.dilation_w = d->dilation_w;
  p.pad_h = d->pad_h, p.pad_w = d->pad_w;
  p.rows = (most_of(d->out_h, 4) - 1) * d->stride_h + (d->kernel_h - 1) * d->dilation_h + 1;
  p.pitch = (d->out_w + 15) / 16 * 16 + (d->kernel_w - 1) * d->dilation_w / d->stride_w + 1;
  p.apart = draw(0, 1) * p.rows * d->stride_w * p.pitch;
  for (ptrdiff_t t = 0; t < d->kernel_h * d->kernel_w; ++t) {
    const ptrdiff_t x = t % d->kernel_w * d->dilation_w;
    const ptrdiff_t line = t / d->kernel_w * d->dilation_h * d->stride_w + x % d->stride_w;
    tap[t] = (int)(line * p.pitch + x / d->stride_w);
  }
  p.tap = tap;
  return p;
}

static window drawn_channels(ptrdiff_t least_w) {
  window d = drawn_window(least_w, 40);
  if (draw(0, 1)) d.kernel_h = d.kernel_w = draw(0, 1) ? 3 : 5;
  if (draw(0, 1)) d.dilation_h = d.stride_h;
#if !ON_copy_step
  d.stride_w = 1;
#endif
  d.groups = 1, d.m = draw(1, 3);
  d.h = drawn_extent(d.out_h, d.stride_h, d.kernel_h, d.dilation_h, d.pad_h);
  d.w = drawn_extent(d.out_w, d.stride_w, d.kernel_w, d.dilation_w, d.pad_w);
  return d;
}

static void test_depthwise(void) {
  int tap[25];
  const job j = drawn_job(drawn_channels(1));
  const K_plane_shape p = plane_of(&j.d, tap);
  float* planes = nothing(p.apart + p.rows * p.stride_w * p.pitch);
  K_depthwise(&p, j.x, j.w, j.bias_or_none, j.y, planes, &j.e);
  end_job(&j, "depthwise");
  free(planes);
}

static void test_depthwise3(void) {
  window d = drawn_channels(8);
  const ptrdiff_t stride = draw(1, 2);
  d.kernel_h = d.kernel_w = 3, d.stride_h = d.stride_w = stride, d.dilation_h = d.dilation_w = 1;
  d.pad_h = draw(0, 1), d.pad_w = draw(0, 1);
  /* The middle taps lie within the image; the last ones may lie beyond. */
  d.h = (d.out_h - 1) * stride - d.pad_h + 2 + draw(0, 2),
  d.w = (d.out_w - 1) * stride - d.pad_w + 2 + draw(0, 2);
  const job j = drawn_job(d);
  const K_depthwise3_shape p = {.batch = d.batch,
                                .channels = d.channels,
                                .multiplier = d.m,
                                .h = d.h,
                                .w = d.w,
                                .out_h = d.out_h,
                                .out_w = d.out_w,
                                .stride = stride,
                                .top = d.pad_h,
                                .left = d.pad_w};
  float* copy = nothing(d.h * d.w + 16);
  K_depthwise3(&p, j.x, j.w, j.bias_or_none, j.y, copy, &j.e);
  end_job(&j, "depthwise3");
  free(copy);
}

static void test_lanes(void) {
  int tap[25];
  window d = drawn_channels(1);
  d.channels = draw(8, 21), d.m = 1, d.out_w = draw(1, 6), d.out_h = draw(1, 5);
  d.h = drawn_extent(d.out_h, d.stride_h, d.kernel_h, d.dilation_h, d.pad_h);
  d.w = drawn_extent(d.out_w, d.stride_w, d.kernel_w, d.dilation_w, d.pad_w);
  if (d.h * d.w < 8) return; /* it turns eight elements at once */
  const job j = drawn_job(d);
  const ptrdiff_t taps = d.kernel_h * d.kernel_w, in = d.h * d.w, out = d.out_h * d.out_w;
  K_lanes_shape p = {.batch = d.batch, .channels = d.channels, .h = d.h, .w = d.w, .out_h = d.out_h};
  p.out_w = d.out_w, p.stride_h = d.stride_h, p.stride_w = d.stride_w, p.pad_h = d.pad_h, p.pad_w = d.pad_w;
  p.rows = most_of(d.pad_h + d.h, (d.out_h - 1) * d.stride_h + (d.kernel_h - 1) * d.dilation_h + 1);
  p.cols = most_of(d.pad_w + d.w, (d.out_w - 1) * d.stride_w + (d.kernel_w - 1) * d.dilation_w + 1);
  p.taps = taps, p.tap = tap;
  for (ptrdiff_t t = 0; t < taps; ++t)
    tap[t] = (int)(t / d.kernel_w * d.dilation_h * p.cols + t % d.kernel_w * d.dilation_w);
  float* weights = numbers((d.channels + 7) / 8 * 8 * taps);
  for (ptrdiff_t c = 0, at = 0; c < d.channels; c += 8) {
    const ptrdiff_t first = c + 8 <= d.channels ? c : d.channels - 8;
    for (ptrdiff_t t = 0; t < taps; ++t)
      for (ptrdiff_t k = 0; k < 8; ++k) weights[at++] = j.w[(first + k) * taps + t];
  }
  float* plane = nothing((p.rows * p.cols + most_of(out, 4)) * 8 + in + out);
  /* Channels that two groups of eight share are computed twice. */
  K_depthwise_lanes(&p, j.x, weights, j.bias_or_none, j.y, plane, &j.e);
  end_job(&j, "depthwise_lanes");
  free(weights), free(plane);
}

/* NaN is greater than all, as in ONNX. */
static void test_pool(void) {
  int tap[25];
  window d = drawn_channels(1);
  d.m = 1;
  const K_plane_shape p = plane_of(&d, tap);
  const ptrdiff_t pixels = d.out_h * d.out_w, all = d.batch * d.channels;
  float *x = numbers(all * d.h * d.w), *y = nothing(all * pixels), *wanted = nothing(all * pixels);
  float* planes = nothing(p.apart + p.rows * p.stride_w * p.pitch);
  const int is_max = (int)draw(0, 1), nan_at = (int)draw(-1, all * d.h * d.w - 1);
  if (is_max && nan_at >= 0) x[nan_at] = NAN;
  for (ptrdiff_t i = 0; i < all * pixels; ++i) {
    const float* plane = x + i / pixels * d.h * d.w;
    float v = is_max ? -INFINITY : 0.0f;
    for (ptrdiff_t t = 0; t < d.kernel_h * d.kernel_w; ++t) {
      const float one = read_of(&d, plane, i % pixels / d.out_w, i % d.out_w, t / d.kernel_w, t % d.kernel_w,
                                is_max ? -INFINITY : 0.0f);
      v = !is_max ? v + one : one > v || isnan(one) ? one : v;
    }
    wanted[i] = v;
  }
  K_pool_planes(&p, is_max, x, y, planes);
  for (ptrdiff_t i = 0; i < all * pixels; ++i) { /* what is equal, compares as 0 */
    if (isnan(wanted[i]) && isnan(y[i])) y[i] = wanted[i] = 0.0f;
    if (isinf(wanted[i]) && y[i] == wanted[i]) y[i] = wanted[i] = 0.0f;
    if (isnan(y[i])) y[i] = 1e30f;
  }
  compare("pool_planes", y, wanted, all * pixels, 0.0f);
  free(x), free(y), free(wanted), free(planes);
}

int main(void) {
  for (int i = 0; i < 150; ++i) {
    test_depthwise();
    test_depthwise3();
    test_lanes();
    test_pool();
  }
  return differences != 0;
}
