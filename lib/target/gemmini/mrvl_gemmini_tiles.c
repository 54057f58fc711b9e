/* SPDX-License-Identifier: Apache-2.0 */
/* A product in chunks: a chunk is what half the scratchpad holds, some pixels and output channels with some
 * of the input channels. Loads of the next chunk stand between the products of this one, as the machine's
 * queues are short. The sums of a tile, all chunks of the same pixels and channels, lie in half the
 * accumulator. */
#include "mrvl_gemmini_tiles.h"

#include "mrvl_gemmini_isa.h"

/* Sizes of a full tile. */
typedef struct tiling {
  mrvl_gemmini_size pixels; /* of the output */
  int32_t blocks, depth;    /* of 16 output and of 16 input channels */
  mrvl_gemmini_size step,
      stride;              /* in the image from loaded pixel to pixel; in the patch from output to output */
  mrvl_gemmini_size patch; /* pixels loaded */
  int32_t joined;          /* rows of the output lie as in the patch, and are one run */
  int32_t sums;            /* rows of the accumulator a block */
} tiling;

/* First indices and counts of a chunk. Depths are blocks of input channels. */
typedef struct chunk {
  int32_t image, channel, row, column, depth;
  int32_t channels, rows, columns, depths;
  int32_t half, half_of_sums;
} chunk;

static int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}

static int32_t parts(int32_t count, int32_t size) {
  return (count + size - 1) / size;
}

static int32_t reach(int32_t pixels, int32_t stride, int32_t kernel, int32_t dilation) {
  return (pixels - 1) * stride + (kernel - 1) * dilation + 1;
}

/* What follows from pixels, blocks and depth; whether it fits. */
static int fits(const gemmini_product* p, tiling* t) {
  const int64_t taps = (int64_t)p->kernel.rows * p->kernel.columns;
  t->patch.rows = reach(t->pixels.rows, t->stride.rows, p->kernel.rows, p->dilations.rows);
  t->patch.columns = reach(t->pixels.columns, t->stride.columns, p->kernel.columns, p->dilations.columns);
  t->sums = t->pixels.rows * (t->joined ? t->patch.columns : t->pixels.columns);
  const int64_t loaded =
      ((int64_t)t->patch.rows * t->patch.columns + taps * GEMMINI_DIM * t->blocks) * t->depth;
  return loaded <= GEMMINI_HALF && (int64_t)t->sums * t->blocks <= GEMMINI_HALF_OF_SUMS;
}

/* One more block, or more pixels: 16 columns, or a row where the columns are all there. */
static int grow(const gemmini_product* p, tiling* t, int pixels) {
  tiling larger = *t;
  if (!pixels) {
    ++larger.blocks;
    if (t->blocks * GEMMINI_DIM >= p->out_channels) return 0;
  } else if (t->pixels.columns < p->out.columns) {
    larger.pixels.columns = least(p->out.columns, t->pixels.columns + GEMMINI_DIM);
  } else if (++larger.pixels.rows > p->out.rows) {
    return 0;
  }
  if (!fits(p, &larger)) return 0;
  *t = larger;
  return 1;
}

/* Parts of nearly one size. */
static int32_t even(int32_t count, int32_t size) {
  return parts(count, parts(count, size));
}

/* Grows what is loaded less, pixels or weights: so both are used often. Returns 0 where nothing fits. */
static int choose(const gemmini_product* p, tiling* t) {
  t->step.rows = p->kernel.rows == 1 ? p->strides.rows : 1;
  t->step.columns = p->kernel.columns == 1 ? p->strides.columns : 1;
  t->stride.rows = p->kernel.rows == 1 ? 1 : p->strides.rows;
  t->stride.columns = p->kernel.columns == 1 ? 1 : p->strides.columns;
  t->joined = t->stride.rows == 1 && t->stride.columns == 1;
  t->pixels.rows = t->blocks = 1;
  t->pixels.columns = least(p->out.columns, GEMMINI_DIM);
  t->depth = least(parts(p->in_channels, GEMMINI_DIM), GEMMINI_BLOCKS);
  while (!fits(p, t))
    if (--t->depth == 0) return 0;
  const int32_t weights = p->kernel.rows * p->kernel.columns * GEMMINI_DIM;
  for (;;) {
    const int pixels = t->patch.rows * t->patch.columns <= weights * t->blocks;
    if (!grow(p, t, pixels) && !grow(p, t, !pixels)) break;
  }
  t->pixels.rows = even(p->out.rows, t->pixels.rows);
  t->blocks = even(parts(p->out_channels, GEMMINI_DIM), t->blocks);
  return fits(p, t);
}

static void measure(const gemmini_product* p, const tiling* t, chunk* c) {
  c->channels = least(t->blocks * GEMMINI_DIM, p->out_channels - c->channel);
  c->rows = least(t->pixels.rows, p->out.rows - c->row);
  c->columns = least(t->pixels.columns, p->out.columns - c->column);
  c->depths = least(t->depth, parts(p->in_channels, GEMMINI_DIM) - c->depth);
}

/* The next chunk: input channels of a tile first, then its neighbours. 0: there is none. */
static int advance(const gemmini_product* p, const tiling* t, chunk* c) {
  c->half = 1 - c->half;
  c->depth += t->depth;
  if (c->depth * GEMMINI_DIM >= p->in_channels) {
    c->depth = 0;
    c->half_of_sums = 1 - c->half_of_sums;
    c->column += t->pixels.columns;
    if (c->column >= p->out.columns) c->column = 0, c->row += t->pixels.rows;
    if (c->row >= p->out.rows) c->row = 0, c->channel += t->blocks * GEMMINI_DIM;
    if (c->channel >= p->out_channels) c->channel = 0, ++c->image;
    if (c->image >= p->images) return 0;
  }
  measure(p, t, c);
  return 1;
}

static uint32_t patch_at(const tiling* t, const chunk* c, int32_t depth, int32_t row, int32_t column) {
  return (uint32_t)(c->half * GEMMINI_HALF + (depth * t->patch.rows + row) * t->patch.columns + column);
}

/* Weights lie behind the patch. */
static uint32_t weights_at(const tiling* t, const chunk* c, int32_t tap, int32_t depth, int32_t block) {
  const int32_t row = ((tap * t->depth + depth) * t->blocks + block) * GEMMINI_DIM;
  return (uint32_t)(c->half * GEMMINI_HALF + t->depth * t->patch.rows * t->patch.columns + row);
}

static uint32_t sums_at(const tiling* t, const chunk* c, int32_t block, int32_t row) {
  return GEMMINI_SUMS | (uint32_t)(c->half_of_sums * GEMMINI_HALF_OF_SUMS + block * t->sums + row);
}

static int32_t input_channels(const gemmini_product* p, const chunk* c, int32_t depth, int32_t blocks) {
  return least(blocks * GEMMINI_DIM, p->in_channels - (c->depth + depth) * GEMMINI_DIM);
}

/* Columns first..last of a row of the patch from image column `at` on: outside of the image they are zeros.
 */
static void load_columns(const gemmini_product* p, const tiling* t, const chunk* c, int32_t row,
                         int32_t first, int32_t last) {
  const int64_t y = (int64_t)c->row * p->strides.rows - p->pads.rows + (int64_t)row * t->step.rows;
  const int64_t left = (int64_t)c->column * p->strides.columns - p->pads.columns;
  const int32_t channels = input_channels(p, c, 0, c->depths);
  while (first < last) {
    const int64_t x = left + (int64_t)first * t->step.columns;
    const int inside = y >= 0 && y < p->in.rows && x >= 0 && x < p->in.columns;
    int32_t end = first + 1;
    for (; end < last; ++end) {
      const int64_t next = left + (int64_t)end * t->step.columns;
      if ((y >= 0 && y < p->in.rows && next >= 0 && next < p->in.columns) != inside) break;
    }
    const int8_t* from = NULL;
    if (inside) {
      const size_t pixel =
          ((size_t)c->image * (size_t)p->in.rows + (size_t)y) * (size_t)p->in.columns + (size_t)x;
      from = p->x + pixel * p->in_pitch + (size_t)c->depth * GEMMINI_DIM;
    }
    gemmini_load(GEMMINI_IMAGE, from, patch_at(t, c, 0, row, first), end - first, channels);
    first = end;
  }
}

static void load_weights(const gemmini_product* p, const tiling* t, const chunk* c, int32_t tap,
                         int32_t depth, int32_t block) {
  const size_t row = (size_t)tap * (size_t)p->in_channels + (size_t)(c->depth + depth) * GEMMINI_DIM;
  const int8_t* from = p->w + row * p->weight_pitch + c->channel + block * GEMMINI_DIM;
  gemmini_load(GEMMINI_WEIGHTS, from, weights_at(t, c, tap, depth, block), input_channels(p, c, depth, 1),
               least(GEMMINI_BLOCKS * GEMMINI_DIM, c->channels - block * GEMMINI_DIM));
}

static int32_t sum_rows(const tiling* t, const chunk* c) {
  return t->joined ? (c->rows - 1) * t->patch.columns + c->columns : c->rows * c->columns;
}

static void load_bias(const gemmini_product* p, const tiling* t, const chunk* c, int32_t block, int32_t row) {
  gemmini_load(GEMMINI_BIAS, p->b + c->channel + block * GEMMINI_DIM, sums_at(t, c, block, row),
               least(GEMMINI_DIM, sum_rows(t, c) - row),
               least(GEMMINI_DIM, c->channels - block * GEMMINI_DIM));
}

/* Numbers of loads: of the patch, the weights and, in a tile's first chunk, the bias. */
typedef struct loads {
  int32_t pieces, patch, groups, weights, runs, bias;
} loads;

static loads count_loads(const gemmini_product* p, const tiling* t, const chunk* c) {
  loads n;
  const int32_t columns = reach(c->columns, t->stride.columns, p->kernel.columns, p->dilations.columns);
  n.pieces = parts(columns, GEMMINI_DIM);
  n.patch = n.pieces * reach(c->rows, t->stride.rows, p->kernel.rows, p->dilations.rows);
  n.groups = parts(c->channels, GEMMINI_BLOCKS * GEMMINI_DIM);
  n.weights = p->kernel.rows * p->kernel.columns * c->depths * n.groups;
  n.runs = parts(sum_rows(t, c), GEMMINI_DIM);
  n.bias = p->b && c->depth == 0 ? n.runs * parts(c->channels, GEMMINI_DIM) : 0;
  return n;
}

/* Load number i of a chunk. */
static void load(const gemmini_product* p, const tiling* t, const chunk* c, const loads* n, int32_t i) {
  if (i < n->patch) {
    const int32_t first = i % n->pieces * GEMMINI_DIM;
    const int32_t end = reach(c->columns, t->stride.columns, p->kernel.columns, p->dilations.columns);
    load_columns(p, t, c, i / n->pieces, first, least(end, first + GEMMINI_DIM));
    return;
  }
  i -= n->patch;
  if (i < n->weights) {
    const int32_t row = i / n->groups;
    load_weights(p, t, c, row / c->depths, row % c->depths, i % n->groups * GEMMINI_BLOCKS);
    return;
  }
  i -= n->weights;
  load_bias(p, t, c, i / n->runs, i % n->runs * GEMMINI_DIM);
}

/* What is loaded meanwhile: `total` loads, shared out evenly over `products`; `owed` is a part of a load. */
typedef struct ahead {
  const chunk* next;
  loads n;
  int64_t total, products, owed;
  int32_t done;
} ahead;

static void load_ahead(const gemmini_product* p, const tiling* t, ahead* a) {
  a->owed += a->total;
  for (; a->owed >= a->products; a->owed -= a->products) load(p, t, a->next, &a->n, a->done++);
}

/* One block of weights with all pixels of the chunk: it is brought to the array once. */
static void multiply_block(const gemmini_product* p, const tiling* t, const chunk* c, int32_t tap,
                           int32_t depth, int32_t block, ahead* a) {
  const int32_t down = tap / p->kernel.columns * p->dilations.rows;
  const int32_t across = tap % p->kernel.columns * p->dilations.columns;
  const int32_t runs = t->joined ? 1 : c->rows, length = t->joined ? sum_rows(t, c) : c->columns;
  const int32_t channels = input_channels(p, c, depth, 1);
  const int32_t outputs = least(GEMMINI_DIM, c->channels - block * GEMMINI_DIM);
  const int adds = p->b != NULL || c->depth + depth + tap > 0;
  uint32_t weights = weights_at(t, c, tap, depth, block);
  const uint32_t step = (uint32_t)(GEMMINI_DIM * t->stride.columns);
  for (int32_t r = 0; r < runs; ++r) {
    uint32_t image = patch_at(t, c, depth, r * t->stride.rows + down, across);
    uint32_t sums = sums_at(t, c, block, r * length) | (adds ? GEMMINI_ADD : 0);
    for (int32_t i = 0; i < length; i += GEMMINI_DIM, image += step, sums += GEMMINI_DIM) {
      gemmini_multiply(image, weights, sums, least(GEMMINI_DIM, length - i), channels, outputs);
      weights = GEMMINI_NOWHERE;
      load_ahead(p, t, a);
    }
  }
}

/* The chunk's products, with the loads of the next one, which may be null, between them. */
static void multiply(const gemmini_product* p, const tiling* t, const chunk* c, const chunk* next) {
  const int32_t taps = p->kernel.rows * p->kernel.columns, blocks = parts(c->channels, GEMMINI_DIM);
  const int64_t tiles =
      t->joined ? parts(sum_rows(t, c), GEMMINI_DIM) : (int64_t)c->rows * parts(c->columns, GEMMINI_DIM);
  ahead a = {0};
  a.products = tiles * taps * blocks * c->depths;
  if (next) {
    a.next = next;
    a.n = count_loads(p, t, next);
    a.total = (int64_t)a.n.patch + a.n.weights + a.n.bias;
  }
  for (int32_t tap = 0; tap < taps; ++tap) {
    for (int32_t depth = 0; depth < c->depths; ++depth) {
      for (int32_t block = 0; block < blocks; ++block) multiply_block(p, t, c, tap, depth, block, &a);
    }
  }
}

static void store(const gemmini_product* p, const tiling* t, const chunk* c) {
  const int32_t pitch = t->joined ? t->patch.columns : c->columns;
  for (int32_t r = 0; r < c->rows; ++r) {
    const size_t row = (size_t)c->image * (size_t)p->out.rows + (size_t)(c->row + r);
    for (int32_t i = 0; i < c->columns; i += GEMMINI_DIM) {
      int8_t* to =
          p->y + (row * (size_t)p->out.columns + (size_t)(c->column + i)) * p->out_pitch + c->channel;
      for (int32_t n = 0; n < c->channels; n += GEMMINI_DIM)
        gemmini_store(to + n, sums_at(t, c, n / GEMMINI_DIM, r * pitch + i),
                      least(GEMMINI_DIM, c->columns - i), least(GEMMINI_DIM, c->channels - n));
    }
  }
}

static void configure(const gemmini_product* p, const tiling* t) {
  gemmini_config_array(t->stride.columns);
  gemmini_config_load(GEMMINI_IMAGE, (size_t)t->step.columns * p->in_pitch, t->patch.rows * t->patch.columns,
                      1, 0);
  gemmini_config_load(GEMMINI_WEIGHTS, p->weight_pitch, GEMMINI_DIM, 1, 0);
  gemmini_config_load(GEMMINI_BIAS, 0, GEMMINI_DIM, 1, 0);
  gemmini_config_store(p->out_pitch, p->scale, p->relu);
}

int mrvl_gemmini_product(const gemmini_product* p) {
  tiling t = {0};
  chunk c = {0};
  if (!choose(p, &t)) return 1;
  configure(p, &t);
  measure(p, &t, &c);
  const loads n = count_loads(p, &t, &c);
  for (int32_t i = 0; i < n.patch + n.weights + n.bias; ++i) load(p, &t, &c, &n, i);
  for (int more = 1; more;) {
    chunk next = c;
    more = advance(p, &t, &next);
    multiply(p, &t, &c, more ? &next : NULL);
    if (!more || next.depth == 0) store(p, &t, &c);
    c = next;
  }
  return 0;
}
