/* SPDX-License-Identifier: Apache-2.0 */
/* A functional model of Gemmini, for machines that have none: instructions in their order, without time. It
 * ends the program at an instruction beyond the documented limits, and at one that the layers have no use
 * for. */
#include "mrvl_gemmini_isa.h"

#if !defined(__riscv) || defined(MRVL_GEMMINI_EMULATED)
#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_ROWS = 2 * GEMMINI_HALF, SUM_ROWS = 2 * GEMMINI_HALF_OF_SUMS, LONGEST_STRIDE = 16383 };

mrvl_gemmini_counts mrvl_gemmini_counted;

typedef struct tile {
  uint32_t address;
  int32_t rows, columns;
} tile;

typedef struct loading {
  int configured, shrink;
  size_t stride;
  int32_t block;
  float scale;
} loading;

static struct machine {
  int8_t scratch[SCRATCH_ROWS][GEMMINI_DIM];
  int32_t sums[SUM_ROWS][GEMMINI_DIM];
  int8_t array[GEMMINI_DIM][GEMMINI_DIM];
  loading loads[3];
  int computes, stores, relu; /* the first two: it is configured */
  size_t store_stride;
  float scale;
  gemmini_window window;
  int32_t image_stride;
  int preloaded, brings, holds; /* a product may follow; with new weights; the array has some */
  tile weights, to;
  uintptr_t written, written_end; /* main memory that stores wrote since the last fence */
} m;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "gemmini: instruction %llu: %s\n", (unsigned long long)mrvl_gemmini_counted.instructions,
          what);
  abort();
}

static tile tile_of(uint64_t reg, int32_t most_columns) {
  const tile t = {(uint32_t)reg, (int32_t)(reg >> 48), (int32_t)(reg >> 32 & 0xffff)};
  check(t.rows >= 1 && t.rows <= GEMMINI_DIM, "rows are not 1 to 16");
  check(t.columns >= 1 && t.columns <= most_columns, "columns are beyond the limit");
  return t;
}

/* The first row of `count`, after the flags that may be set are taken away. */
static int32_t row_of(uint32_t address, uint32_t flags, int32_t count, int32_t rows) {
  const uint32_t row = address & ~flags;
  check(row < (uint32_t)rows && count <= rows - (int32_t)row, "an address beyond the memory");
  return (int32_t)row;
}

static float float_of(uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  check(value >= 0 && value < 1e30f, "a scale that is negative or no number");
  return value;
}

/* To the nearest integer, of two the even one, within int8. */
static int8_t narrowed(float value) {
  if (value >= 127) return 127;
  if (value <= -128) return -128;
  const int32_t whole = (int32_t)value;
  const float rest = value - (float)whole;
  int32_t up = rest > 0.5f || (rest == 0.5f && whole % 2 != 0);
  if (rest < -0.5f || (rest == -0.5f && whole % 2 != 0)) up = -1;
  return (int8_t)(whole + up);
}

static void config_array(uint64_t rs1, uint64_t rs2) {
  check((rs1 & 0xffff) == 4, "the array is configured for something else than weights that stay");
  check(rs2 == (uint64_t)1 << 48, "sums are not row by row");
  m.image_stride = (int32_t)(rs1 >> 16 & 0xffff);
  check(m.image_stride >= 1 && m.image_stride <= LONGEST_STRIDE, "a stride beyond 14 bits");
  m.computes = 1;
}

static void config_load(uint64_t rs1, uint64_t rs2) {
  const uint64_t which = rs1 >> 3 & 3, repeats = rs1 >> 8 & 0xff;
  check(which < 3 && repeats == 1 && (rs1 >> 5 & 7) == 0, "a load is configured wrongly");
  loading* l = &m.loads[which];
  l->configured = 1;
  l->shrink = (int)(rs1 >> 2 & 1);
  l->stride = (size_t)rs2;
  l->block = (int32_t)(rs1 >> 16 & 0xffff);
  l->scale = float_of(rs1 >> 32);
  check(l->block >= 1 && l->block <= LONGEST_STRIDE, "a block stride beyond 14 bits");
}

/* Sizes along the sides of a pooling store; `stride` 0: it is none. */
static void config_pool(uint64_t rs1) {
  const int32_t fields[] = {
      (int32_t)(rs1 >> 6 & 3),     (int32_t)(rs1 >> 4 & 3),     (int32_t)(rs1 >> 8 & 3),
      (int32_t)(rs1 >> 10 & 3),    (int32_t)(rs1 >> 24 & 0xff), (int32_t)(rs1 >> 32 & 0xff),
      (int32_t)(rs1 >> 40 & 0xff), (int32_t)(rs1 >> 48 & 0xff), (int32_t)(rs1 >> 56)};
  memcpy(&m.window, fields, sizeof m.window);
  check(m.window.stride == 0 || m.window.kernel >= 1, "a window without a size");
}

static void config_store(uint64_t rs1, uint64_t rs2) {
  check((rs1 >> 3 & 1) == 0 && (rs1 >> 12 & 0xfff) == 0, "an activation but Relu");
  config_pool(rs1);
  m.relu = (int)(rs1 >> 2 & 1);
  m.store_stride = (size_t)(rs2 & 0xffffffff);
  m.scale = float_of(rs2 >> 32);
  m.stores = 1;
}

static void config(uint64_t rs1, uint64_t rs2) {
  check((rs1 & 3) < 3, "a configuration of norms");
  if ((rs1 & 3) == 0) config_array(rs1, rs2);
  if ((rs1 & 3) == 1) config_load(rs1, rs2);
  if ((rs1 & 3) == 2) config_store(rs1, rs2);
}

static void check_fence(uintptr_t from, size_t bytes) {
  check(from >= m.written_end || from + bytes <= m.written,
        "memory is read that a store before it may still write");
}

/* A block of at most 16 columns; `column` is its first one. */
static void load_scratch(const loading* l, const int8_t* from, tile t, int32_t column) {
  const int32_t columns = t.columns - column < GEMMINI_DIM ? t.columns - column : GEMMINI_DIM;
  const uint32_t address = t.address + (uint32_t)(column / GEMMINI_DIM * l->block);
  const int32_t row = row_of(address, 0, t.rows, SCRATCH_ROWS);
  for (int32_t r = 0; r < t.rows; ++r) {
    for (int32_t c = 0; c < columns; ++c)
      m.scratch[row + r][c] =
          from ? narrowed((float)from[(size_t)r * l->stride + (size_t)(column + c)] * l->scale) : 0;
  }
}

static void load_sums(const loading* l, const int8_t* from, tile t) {
  const int32_t row = row_of(t.address, GEMMINI_SUMS | GEMMINI_ADD, t.rows, SUM_ROWS);
  for (int32_t r = 0; r < t.rows; ++r) {
    for (int32_t c = 0; c < t.columns; ++c) {
      int32_t value = 0;
      if (from && l->shrink) value = narrowed((float)from[(size_t)r * l->stride + (size_t)c] * l->scale);
      if (from && !l->shrink)
        memcpy(&value, from + (size_t)r * l->stride + (size_t)c * sizeof value, sizeof value);
      const uint32_t before = t.address & GEMMINI_ADD ? (uint32_t)m.sums[row + r][c] : 0;
      m.sums[row + r][c] = (int32_t)(before + (uint32_t)value);
    }
  }
}

static void load(int which, uint64_t rs1, uint64_t rs2) {
  const loading* l = &m.loads[which];
  const tile t = tile_of(rs2, GEMMINI_BLOCKS * GEMMINI_DIM);
  const int8_t* from = (const int8_t*)(uintptr_t)rs1;
  const int sums = (t.address & GEMMINI_SUMS) != 0;
  check(l->configured, "a load without a configuration");
  check(!sums || t.columns <= GEMMINI_DIM, "more than 16 columns of sums");
  check(!sums || l->shrink || l->scale == 1, "sums of 32 bits with a scale");
  check(sums || !l->shrink, "a shrunk load to the scratchpad");
  check(t.columns <= GEMMINI_DIM || l->block >= t.rows, "blocks that overlap");
  if (from) {
    const size_t row = (size_t)t.columns * (sums && !l->shrink ? 4 : 1);
    check_fence((uintptr_t)from, (size_t)(t.rows - 1) * l->stride + row);
  }
  if (sums) load_sums(l, from, t);
  for (int32_t c = 0; !sums && c < t.columns; c += GEMMINI_DIM) load_scratch(l, from, t, c);
  mrvl_gemmini_counted.rows_in += (uint64_t)t.rows * (uint64_t)((t.columns + GEMMINI_DIM - 1) / GEMMINI_DIM);
}

static int8_t stored(int32_t row, int32_t column) {
  const int32_t sum = m.relu && m.sums[row][column] < 0 ? 0 : m.sums[row][column];
  const float exact = (float)sum;
  return narrowed(exact * m.scale);
}

/* The largest of a window whose first pixel is (row, column); outside of the tile there are zeros. */
static int8_t largest(int32_t first, int32_t row, int32_t column, int32_t channel) {
  int8_t most = INT8_MIN;
  for (int32_t i = 0; i < m.window.kernel * m.window.kernel; ++i) {
    const int32_t r = row + i / m.window.kernel, c = column + i % m.window.kernel;
    const int inside = r >= 0 && r < m.window.in_rows && c >= 0 && c < m.window.in_columns;
    const int8_t value = inside ? stored(first + r * m.window.in_columns + c, channel) : 0;
    if (value > most) most = value;
  }
  return most;
}

/* From `first` on, of as many channels as the tile has columns; the end of what is written. */
static int8_t* store_maxima(int8_t* to, int32_t first, int32_t channels) {
  const gemmini_window* w = &m.window;
  int8_t* end = to;
  check(w->in_rows >= 1 && w->in_columns >= 1 && w->out_rows >= 1 && w->out_columns >= 1,
        "an empty tile of maxima");
  check(first + w->in_rows * w->in_columns <= SUM_ROWS, "maxima of rows beyond the memory");
  for (int32_t r = 0; r < w->out_rows; ++r) {
    for (int32_t c = 0; c < w->out_columns; ++c) {
      end = to + (size_t)(r * w->pitch + c) * m.store_stride;
      for (int32_t k = 0; k < channels; ++k)
        end[k] = largest(first, r * w->stride - w->above, c * w->stride - w->left, k);
    }
  }
  return end + channels;
}

static int8_t* store_rows(int8_t* to, int32_t first, tile t) {
  int8_t* end = to;
  for (int32_t r = 0; r < t.rows; ++r) {
    end = to + (size_t)r * m.store_stride;
    for (int32_t c = 0; c < t.columns; ++c) end[c] = stored(first + r, c);
  }
  return end + t.columns;
}

static void store(uint64_t rs1, uint64_t rs2) {
  const tile t = tile_of(rs2, GEMMINI_DIM);
  int8_t* to = (int8_t*)(uintptr_t)rs1;
  check(m.stores && to != NULL, "a store without a configuration or an address");
  check((t.address & GEMMINI_SUMS) != 0, "a store from the scratchpad");
  const int32_t row = row_of(t.address, GEMMINI_SUMS, t.rows, SUM_ROWS);
  const uintptr_t begin = (uintptr_t)to;
  const uintptr_t end =
      (uintptr_t)(m.window.stride ? store_maxima(to, row, t.columns) : store_rows(to, row, t));
  if (m.written_end == 0 || begin < m.written) m.written = begin;
  if (end > m.written_end) m.written_end = end;
  const int32_t rows = m.window.stride ? m.window.out_rows * m.window.out_columns : t.rows;
  mrvl_gemmini_counted.rows_out += (uint64_t)rows;
  ++mrvl_gemmini_counted.unfenced;
}

static void preload(uint64_t rs1, uint64_t rs2) {
  m.weights = tile_of(rs1, GEMMINI_DIM);
  m.to = tile_of(rs2, GEMMINI_DIM);
  check(m.computes, "a product without a configuration");
  check(!m.preloaded, "two preloads in a row");
  check((m.to.address & GEMMINI_SUMS) != 0, "products that go to the scratchpad");
  row_of(m.to.address, GEMMINI_SUMS | GEMMINI_ADD, m.to.rows, SUM_ROWS);
  m.brings = m.weights.address != GEMMINI_NOWHERE;
  m.preloaded = 1;
}

static void bring_weights(void) {
  check(m.brings, "no weights were preloaded");
  const int32_t row = row_of(m.weights.address, 0, m.weights.rows, SCRATCH_ROWS);
  memset(m.array, 0, sizeof m.array);
  for (int32_t r = 0; r < m.weights.rows; ++r)
    memcpy(m.array[r], m.scratch[row + r], (size_t)m.weights.columns);
  m.holds = 1;
}

static void add_row(const int8_t* image, int32_t depth, int32_t* sums, int adds) {
  for (int32_t c = 0; c < m.to.columns; ++c) {
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; ++k) sum += image[k] * m.array[k][c];
    sums[c] = (int32_t)((adds ? (uint32_t)sums[c] : 0) + (uint32_t)sum);
  }
}

static void compute(int brings, uint64_t rs1, uint64_t rs2) {
  const tile image = tile_of(rs1, GEMMINI_DIM), added = tile_of(rs2, GEMMINI_DIM);
  check(m.preloaded, "a product without a preload");
  check(added.address == GEMMINI_NOWHERE, "a product with a summand");
  if (brings) bring_weights();
  check(m.holds && (brings || !m.brings), "weights that are preloaded and not used");
  check(image.rows == m.to.rows && image.columns == m.weights.rows && m.weights.columns == m.to.columns,
        "sizes of a product that differ");
  const int32_t row = row_of(image.address, 0, (image.rows - 1) * m.image_stride + 1, SCRATCH_ROWS);
  const int32_t to = row_of(m.to.address, GEMMINI_SUMS | GEMMINI_ADD, m.to.rows, SUM_ROWS);
  for (int32_t r = 0; r < image.rows; ++r)
    add_row(m.scratch[row + r * m.image_stride], image.columns, m.sums[to + r],
            (m.to.address & GEMMINI_ADD) != 0);
  m.preloaded = 0;
  ++mrvl_gemmini_counted.computes;
  mrvl_gemmini_counted.products += (uint64_t)image.rows * (uint64_t)image.columns * (uint64_t)m.to.columns;
  mrvl_gemmini_counted.array_cycles += (uint64_t)(brings ? GEMMINI_DIM : image.rows);
}

/* The memories keep what they have; here it is spoilt, so that nobody relies on it. */
static void flush(void) {
  memset(&m, 0, offsetof(struct machine, written));
  memset(m.scratch, 0x5a, sizeof m.scratch);
  memset(m.sums, 0x5a, sizeof m.sums);
}

void mrvl_gemmini_emulate(unsigned funct, uint64_t rs1, uint64_t rs2) {
  ++mrvl_gemmini_counted.instructions;
  switch (funct) {
    case 0:
      config(rs1, rs2);
      break;
    case 1:
      load(1, rs1, rs2);
      break;
    case 2:
      load(0, rs1, rs2);
      break;
    case 3:
      store(rs1, rs2);
      break;
    case 4:
      compute(1, rs1, rs2);
      break;
    case 5:
      compute(0, rs1, rs2);
      break;
    case 6:
      preload(rs1, rs2);
      break;
    case 7:
      flush();
      break;
    case 14:
      load(2, rs1, rs2);
      break;
    default:
      check(0, "a function that is not used");
  }
}

void mrvl_gemmini_emulate_fence(void) {
  ++mrvl_gemmini_counted.fences;
  mrvl_gemmini_counted.unfenced = 0;
  m.written = m.written_end = 0;
}
#else
typedef int mrvl_gemmini_not_emulated; /* a source has a declaration */
#endif
