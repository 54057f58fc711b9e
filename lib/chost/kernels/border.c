//@ piece in_tile: base
/* A tile of the channels and pixels in which values change to another order of dimensions. */
// A cache holds it: all of a line that is read is used, and all of one is written, before it goes.
enum { K_TILE = 64, K_TILE_CHANNELS = 24, K_TILE_PIXELS = 32 };
static ptrdiff_t K_in_tile(ptrdiff_t from, ptrdiff_t all, ptrdiff_t most) {
  return all - from < most ? all - from : most;
}

//@ piece turn_tile: base
#if K_VW
typedef uint16_t K_words __attribute__((vector_size(16)));
typedef uint16_t K_wordsu __attribute__((vector_size(16), aligned(2), may_alias));
#if defined(__clang__)
#define K_WORDS_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define K_WORDS_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define K_WORDS_LOW(a, b) __builtin_shuffle(a, b, (K_words){0, 8, 1, 9, 2, 10, 3, 11})
#define K_WORDS_HIGH(a, b) __builtin_shuffle(a, b, (K_words){4, 12, 5, 13, 6, 14, 7, 15})
#endif
#define K_WORDS_PAIR(to, from, i) \
  to[2 * i] = K_WORDS_LOW(from[i], from[i + 4]), to[2 * i + 1] = K_WORDS_HIGH(from[i], from[i + 4])
#define K_WORDS_STEP(to, from) \
  K_WORDS_PAIR(to, from, 0), K_WORDS_PAIR(to, from, 1), K_WORDS_PAIR(to, from, 2), K_WORDS_PAIR(to, from, 3)
/* 8 rows of 8 words become 8 columns. */
static void K_turn_eight(const uint16_t* x, ptrdiff_t x_row, uint16_t* y, ptrdiff_t y_row) {
  K_words a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = *(const K_wordsu*)(const void*)(x + i * x_row);
  K_WORDS_STEP(b, a);
  K_WORDS_STEP(a, b);
  K_WORDS_STEP(b, a);
  for (int i = 0; i < 8; ++i) *(K_wordsu*)(void*)(y + i * y_row) = b[i];
}
#endif

/* y[column][row] = x[row][column]; rows of x and of y begin x_row and y_row words apart. */
static void K_turn_tile(
    const uint16_t* x, ptrdiff_t x_row, uint16_t* y, ptrdiff_t y_row, ptrdiff_t rows, ptrdiff_t columns) {
#if K_VW
  const ptrdiff_t whole_rows = rows - rows % 8, whole = columns - columns % 8;
  for (ptrdiff_t j = 0; j < whole; j += 8) {
    for (ptrdiff_t i = 0; i < whole_rows; i += 8)
      K_turn_eight(x + i * x_row + j, x_row, y + j * y_row + i, y_row);
    for (ptrdiff_t i = whole_rows; i < rows; ++i)
      for (ptrdiff_t k = j; k < j + 8; ++k) y[k * y_row + i] = x[i * x_row + k];
  }
#else
  const ptrdiff_t whole = 0;
#endif
  for (ptrdiff_t j = whole; j < columns; ++j)
    for (ptrdiff_t i = 0; i < rows; ++i) y[j * y_row + i] = x[i * x_row + j];
}

//@ piece turn$form: in_tile
//@ hole form suffix: what names of this form end in
//@ hole element type: an element of either side
//@ form form=_bytes element=uint8_t
//@ form form=_longs element=uint32_t
/* y[column][row] = x[row][column]; rows of x and of y begin x_row and y_row elements apart. */
static void K_turn$form(const $element* restrict x, $element* restrict y, ptrdiff_t rows, ptrdiff_t columns,
    ptrdiff_t x_row, ptrdiff_t y_row) {
  for (ptrdiff_t j = 0; j < columns; j += K_TILE)
    for (ptrdiff_t i = 0; i < rows; i += K_TILE)
      for (ptrdiff_t k = j; k < j + K_in_tile(j, columns, K_TILE); ++k)
        for (ptrdiff_t r = i; r < i + K_in_tile(i, rows, K_TILE); ++r)
          memcpy(y + k * y_row + r, x + r * x_row + k, sizeof *y);
}

//@ piece turn_words: in_tile turn_tile
static void K_turn_words(const uint16_t* restrict x, uint16_t* restrict y, ptrdiff_t rows, ptrdiff_t columns,
    ptrdiff_t x_row, ptrdiff_t y_row) {
  for (ptrdiff_t j = 0; j < columns; j += K_TILE)
    for (ptrdiff_t i = 0; i < rows; i += K_TILE)
      K_turn_tile(x + i * x_row + j, x_row, y + j * y_row + i, y_row, K_in_tile(i, rows, K_TILE),
          K_in_tile(j, columns, K_TILE));
}

//@ piece narrow_floats: f32_to_f16
#if K_VW == 8 && defined(__F16C__)
typedef short K_shorts __attribute__((vector_size(16)));
#define K_NARROW(v) ((K_shorts)__builtin_ia32_vcvtps2ph256(v, 0))
#elif K_VW && defined(__aarch64__)
#include <arm_neon.h>
typedef short K_shorts __attribute__((vector_size(8)));
#define K_NARROW(v) ((K_shorts)vcvt_f16_f32((float32x4_t)(v)))
#elif K_VW
typedef short K_shorts __attribute__((vector_size(K_VW * 2)));
#define K_SELECTED(m, a, b) (((a) & (m)) | ((b) & ~(m)))
static K_shorts K_narrow_vec(K_vec v) {
  typedef int32_t ints __attribute__((vector_size(K_VW * 4)));
  const ints bits = (ints)v, mag = bits & 0x7fffffff;
  const ints is_small = mag<0x38800000, too_large = mag >= 0x477ff000, is_nan = mag> 0x7f800000;
  ints h = (mag - 0x38000000 + 0xfff + (mag >> 13 & 1)) >> 13;
  const ints small = (ints)((K_vec)(mag & is_small) + 0.5f) - 0x3f000000;
  h = K_SELECTED(is_small, small, h);
  h = K_SELECTED(too_large, (ints){0} + 0x7c00, h);
  h = K_SELECTED(is_nan, 0x7e00 | (mag >> 13 & 0x3ff), h);
  h |= (bits >> 16) & 0x8000;
  return __builtin_convertvector(h, K_shorts);
}
#define K_NARROW(v) K_narrow_vec(v)
#endif
/* n floats as fp16; not 0: one of them, not infinite itself, is beyond its range. */
static uint32_t K_narrow_floats(const float* x, uint16_t* y, ptrdiff_t n) {
  uint32_t beyond = 0u;
#if K_VW
  typedef int32_t ints __attribute__((vector_size(K_VW * 4)));
  typedef short shortsu __attribute__((vector_size(K_VW * 2), aligned(2), may_alias));
  const ptrdiff_t whole = n - n % K_VW;
  ints all = {0};
  for (ptrdiff_t j = 0; j < whole; j += K_VW) {
    const K_vec v = K_LOAD(x + j);
    const ints mag = (ints)v & 0x7fffffff;
    all |= (mag >= 0x477ff000) & (mag < 0x7f800000);
    *(shortsu*)(void*)(y + j) = K_NARROW(v);
  }
  for (int k = 0; k < K_VW; ++k) beyond |= (uint32_t)all[k] & 1u;
#else
  const ptrdiff_t whole = 0;
#endif
  for (ptrdiff_t j = whole; j < n; ++j) {
    const float v = x[j];
    const uint16_t h = K_f32_to_f16(v);
    beyond |= (uint32_t)((h & 0x7fffu) == 0x7c00u) & (uint32_t)(v - v == 0.0f);
    y[j] = h;
  }
  return beyond;
}

//@ piece widen_halves: f16_to_f32 half_load
/* n halves as floats. Signalling NaN stay such, which instructions of the processor do not let them. */
static void K_widen_halves(const uint16_t* x, float* y, ptrdiff_t n) {
#if K_VW
  typedef int32_t ints __attribute__((vector_size(K_VW * 4)));
  typedef uint16_t shortsu __attribute__((vector_size(K_VW * 2), aligned(2), may_alias));
  const ptrdiff_t whole = n - n % K_VW;
  for (ptrdiff_t j = 0; j < whole; j += K_VW) {
    const ints h = __builtin_convertvector(*(const shortsu*)(const void*)(x + j), ints);
#if (K_VW == 8 && defined(__F16C__)) || defined(__aarch64__)
    const ints quiet = ((h & 0x7e00) == 0x7c00) & 0x00400000;
    const ints bits = (ints)K_LOAD_HALF(x + j) & ~quiet;
#else
    const ints mag = (h & 0x7fff) << 13, is_small = mag < 0x00800000;
    const ints low = (ints)(__builtin_convertvector(h & 0x3ff, K_vec) * 0x1p-24f);
    const ints large = mag + 0x38000000 + ((mag >= 0x0f800000) & 0x38000000);
    const ints bits = (low & is_small) | (large & ~is_small) | (h >> 15) << 31;
#endif
    K_STORE(y + j, (K_vec)bits);
  }
#else
  const ptrdiff_t whole = 0;
#endif
  for (ptrdiff_t j = whole; j < n; ++j) y[j] = K_f16_to_f32(x[j]);
}

//@ piece narrow_turn: in_tile turn_tile narrow_floats
/* The same, of floats that become fp16; what it returns is that of K_narrow_floats. */
static uint32_t K_narrow_turn(const float* restrict x, uint16_t* restrict y, ptrdiff_t rows,
    ptrdiff_t columns, ptrdiff_t x_row, ptrdiff_t y_row) {
  uint16_t tile[K_TILE_CHANNELS * K_TILE_PIXELS];
  uint32_t beyond = 0u;
  for (ptrdiff_t j = 0; j < columns; j += K_TILE_PIXELS) {
    const ptrdiff_t n = K_in_tile(j, columns, K_TILE_PIXELS);
    for (ptrdiff_t i = 0; i < rows; i += K_TILE_CHANNELS) {
      const ptrdiff_t m = K_in_tile(i, rows, K_TILE_CHANNELS);
      for (ptrdiff_t r = 0; r < m; ++r)
        beyond |= K_narrow_floats(x + (i + r) * x_row + j, tile + r * K_TILE_PIXELS, n);
      K_turn_tile(tile, K_TILE_PIXELS, y + j * y_row + i, y_row, m, n);
    }
  }
  return beyond;
}

//@ piece widen_turn: in_tile turn_tile widen_halves
/* The same, of fp16 that become floats. */
static void K_widen_turn(const uint16_t* restrict x, float* restrict y, ptrdiff_t rows, ptrdiff_t columns,
    ptrdiff_t x_row, ptrdiff_t y_row) {
  uint16_t tile[K_TILE_CHANNELS * K_TILE_PIXELS];
  for (ptrdiff_t i = 0; i < rows; i += K_TILE_PIXELS) {
    const ptrdiff_t m = K_in_tile(i, rows, K_TILE_PIXELS);
    for (ptrdiff_t j = 0; j < columns; j += K_TILE_CHANNELS) {
      const ptrdiff_t n = K_in_tile(j, columns, K_TILE_CHANNELS);
      K_turn_tile(x + i * x_row + j, x_row, tile, K_TILE_PIXELS, m, n);
      for (ptrdiff_t r = 0; r < n; ++r) K_widen_halves(tile + r * K_TILE_PIXELS, y + (j + r) * y_row + i, m);
    }
  }
}
