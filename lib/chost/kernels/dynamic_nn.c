//@ piece dynamic_reduce: base
/* Loops of a reduction over the dimensions in the set `axes`, neighbours of one kind merged. n and s are
 * sizes and strides of what is kept, from 8 on of what is reduced, the innermost first; that is the run. */
typedef struct K_dynamic_reduce_loops {
  ptrdiff_t results, outer, run, step;
  int kept, reduced;
  int64_t n[16], s[16];
} K_dynamic_reduce_loops;

static void K_dynamic_reduce(K_dynamic_reduce_loops* p, int rank, const int64_t* dim, uint32_t axes) {
  int64_t stride = 1;
  int last = -1;
  p->results = p->outer = p->run = p->step = 1;
  p->kept = p->reduced = 0;
  for (int d = rank; d-- > 0;) {
    const int kind = (int)(axes >> d & 1u), group = kind ? 7 + p->reduced : p->kept - 1;
    if (dim[d] == 1) continue;
    if (kind == last) {
      p->n[group] *= dim[d];
    } else {
      p->n[group + 1] = dim[d];
      p->s[group + 1] = stride;
      if (kind) {
        ++p->reduced;
      } else {
        ++p->kept;
      }
    }
    last = kind;
    stride *= dim[d];
  }
  for (int g = 0; g < p->kept; ++g) p->results *= (ptrdiff_t)p->n[g];
  for (int g = 1; g < p->reduced; ++g) p->outer *= (ptrdiff_t)p->n[8 + g];
  if (p->reduced > 0) {
    p->run = (ptrdiff_t)p->n[8];
    p->step = (ptrdiff_t)p->s[8];
  }
}

static ptrdiff_t K_dynamic_reduce_at(ptrdiff_t k, int groups, const int64_t* n, const int64_t* s) {
  int64_t rest = k, at = 0;
  for (int g = 0; g < groups; rest /= n[g], ++g) at += rest % n[g] * s[g];
  return (ptrdiff_t)at;
}

//@ piece dynamic_window: base
/* A window over the last dimensions of a tensor, of ONNX's convolutions and pools; pad and pad_end in front
 * and behind. */
typedef struct K_dynamic_window {
  int rank;
  int64_t in[6], out[6], kernel[6], stride[6], dilation[6], pad[6], pad_end[6];
} K_dynamic_window;

enum {
  K_dynamic_window_explicit,
  K_dynamic_window_same_upper,
  K_dynamic_window_same_lower,
  K_dynamic_window_valid
};

static int64_t K_dynamic_window_extent(const K_dynamic_window* w, int d) {
  return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

/* The input positions of tap `tap` for the outputs of one row (a run along the last dimension): from + o *
 * stride for low <= o < high. 0 when there are none. */
static int K_dynamic_window_tap(
    const K_dynamic_window* w, int64_t row, int64_t tap, int64_t* from, int64_t* low, int64_t* high) {
  const int last = w->rank - 1;
  const int64_t n = w->in[last], s = w->stride[last];
  const int64_t base = tap % w->kernel[last] * w->dilation[last] - w->pad[last];
  int64_t at = 0, step = n, past;
  tap /= w->kernel[last];
  for (int d = last - 1; d >= 0; --d) {
    const int64_t i = row % w->out[d] * w->stride[d] + tap % w->kernel[d] * w->dilation[d] - w->pad[d];
    if (i < 0 || i >= w->in[d]) return 0;
    at += i * step;
    step *= w->in[d];
    row /= w->out[d];
    tap /= w->kernel[d];
  }
  past = base >= n ? 0 : (n - base + s - 1) / s;
  *from = at + base;
  *low = base >= 0 ? 0 : (s - 1 - base) / s;
  *high = past < w->out[last] ? past : w->out[last];
  return *low < *high;
}

static int64_t K_dynamic_window_product(const int64_t* n, int count) {
  int64_t product = 1;
  for (int d = 0; d < count; ++d) product *= n[d];
  return product;
}

//@ piece dynamic_window_size: dynamic_window
/* Sets `out` and the padding that `mode` asks for. Not 0 when the window does not fit. */
static int K_dynamic_window_size(K_dynamic_window* w, int mode, int up) {
  const int same = mode == K_dynamic_window_same_upper || mode == K_dynamic_window_same_lower;
  for (int d = 0; d < w->rank; ++d) {
    const int64_t n = w->in[d], s = w->stride[d], most = INT64_C(1) << 31;
    int64_t room;
    if (n < 1 || w->kernel[d] < 1 || w->kernel[d] > most) return 1;
    if (mode == K_dynamic_window_valid) w->pad[d] = w->pad_end[d] = 0;
    if (same) {
      const int64_t over = ((n + s - 1) / s - 1) * s + K_dynamic_window_extent(w, d) - n,
                    total = over > 0 ? over : 0;
      w->pad[d] = mode == K_dynamic_window_same_upper ? total / 2 : total - total / 2;
      w->pad_end[d] = total - w->pad[d];
    }
    room = n + w->pad[d] + w->pad_end[d] - K_dynamic_window_extent(w, d);
    if (room < 0) return 1;
    w->out[d] = (up && !same ? (room + s - 1) / s : room / s) + 1;
    /* A window that would begin in the padding at the end is dropped. */
    if (up && !same && (w->out[d] - 1) * s >= n + w->pad[d]) --w->out[d];
  }
  return 0;
}

//@ piece dynamic_transposed: dynamic_window
/* Of a transposed convolution: `out` holds the sizes of its operand; sets `in`, those of its result, from the
 * padding or, when they are `wanted`, the other way round. */
static int K_dynamic_transposed(K_dynamic_window* w, int mode, const int64_t* extra, const int64_t* wanted) {
  const int same = mode == K_dynamic_window_same_upper || mode == K_dynamic_window_same_lower;
  for (int d = 0; d < w->rank; ++d) {
    const int64_t most = INT64_C(1) << 31;
    int64_t full;
    if (w->out[d] < 1 || w->kernel[d] < 1 || w->kernel[d] > most) return 1;
    full = w->stride[d] * (w->out[d] - 1) + extra[d] + K_dynamic_window_extent(w, d);
    if (mode == K_dynamic_window_valid) w->pad[d] = w->pad_end[d] = 0;
    w->in[d] = full - w->pad[d] - w->pad_end[d];
    if (wanted || same) {
      int64_t total;
      w->in[d] = wanted ? wanted[d] : w->out[d] * w->stride[d];
      total = full > w->in[d] ? full - w->in[d] : 0;
      w->pad[d] = mode == K_dynamic_window_same_upper ? total / 2 : total - total / 2;
      w->pad_end[d] = total - w->pad[d];
    }
    if (w->in[d] < 1) return 1;
  }
  return 0;
}

//@ piece dynamic_count: dynamic_window average_count
/* Elements that count for the average at output o of dimension d. */
static int64_t K_dynamic_count(const K_dynamic_window* w, int d, int64_t o, int padding) {
  return K_average_count(o * w->stride[d] - w->pad[d], w->kernel[d], w->dilation[d], padding ? -w->pad[d] : 0,
      w->in[d] + (padding ? w->pad_end[d] : 0));
}

/* The same for a row of outputs, of all dimensions but the last. */
static int64_t K_dynamic_count_row(const K_dynamic_window* w, int64_t row, int padding) {
  int64_t count = 1;
  for (int d = w->rank - 1; d-- > 0; row /= w->out[d])
    count *= K_dynamic_count(w, d, row % w->out[d], padding);
  return count;
}

//@ piece dynamic_column_major: dynamic_window
/* Position of an element of the input when the first dimension counts fastest. */
static int64_t K_dynamic_column_major(const K_dynamic_window* w, int64_t index) {
  int64_t position = 0, step = K_dynamic_window_product(w->in, w->rank);
  for (int d = w->rank; d-- > 0; index /= w->in[d]) {
    step /= w->in[d];
    position += index % w->in[d] * step;
  }
  return position;
}
