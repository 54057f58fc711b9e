/* kernels: turn_bytes turn_words turn_longs narrow_turn widen_turn
 * Orders of dimensions, and fp16: the bits of plain loops, NaN of all kinds among them. */
#include "draw.h"

enum { MOST = 130 };

static uint32_t plain_narrow(const float* x, uint16_t* y, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t x_row,
                             ptrdiff_t y_row) {
  uint32_t beyond = 0;
  for (ptrdiff_t i = 0; i < rows; ++i)
    for (ptrdiff_t j = 0; j < columns; ++j) {
      const float v = x[i * x_row + j];
      const uint16_t h = K_f32_to_f16(v);
      beyond |= (uint32_t)((h & 0x7fffu) == 0x7c00u && v - v == 0.0f);
      y[j * y_row + i] = h;
    }
  return beyond;
}

static uint32_t bits(void) {
  return (uint32_t)draw(0, 0xffff) << 16 | (uint32_t)draw(0, 0xffff);
}

/* Bits of floats of any kind; or around the smallest and the largest numbers of fp16. */
static uint32_t number(int kind) {
  static const uint32_t near[] = {0x477fe000, 0x477ff000, 0x477fefff, 0x38800000, 0x387fffff, 0x33000000,
                                  0x33000001, 0x7f800000, 0x7f800001, 0x7fc00001, 0x7f802000, 0x00000001};
  if (kind == 0) return 0x3f000000u + (bits() & 0xffffff);
  return kind == 1 ? bits() : (near[draw(0, 11)] + (uint32_t)draw(0, 2) - 1) | (uint32_t)draw(0, 1) << 31;
}

int main(void) {
  static uint32_t x[MOST * MOST], y[MOST * MOST], expected[MOST * MOST];
  for (int times = 0; times < 300; ++times) {
    const ptrdiff_t rows = (ptrdiff_t)draw(1, 120), columns = (ptrdiff_t)draw(1, 120);
    const ptrdiff_t x_row = columns + (ptrdiff_t)draw(0, 9), y_row = rows + (ptrdiff_t)draw(0, 9);
    for (int form = 0; form < 5; ++form) {
      const int kind = (int)draw(0, 2);
      uint32_t beyond = 0, told = 0;
      for (ptrdiff_t i = 0; i < MOST * MOST; ++i) x[i] = form == 3 ? number(kind) : bits();
      for (ptrdiff_t i = 0; i < MOST * MOST; ++i) y[i] = expected[i] = 0x5a5a5a5a;
      if (form == 0) K_turn_bytes((const uint8_t*)x, (uint8_t*)y, rows, columns, x_row, y_row);
      if (form == 1) K_turn_words((const uint16_t*)x, (uint16_t*)y, rows, columns, x_row, y_row);
      if (form == 2) K_turn_longs(x, y, rows, columns, x_row, y_row);
      if (form == 3) told = K_narrow_turn((const float*)x, (uint16_t*)y, rows, columns, x_row, y_row);
      if (form == 3) beyond = plain_narrow((const float*)x, (uint16_t*)expected, rows, columns, x_row, y_row);
      if (form == 4) K_widen_turn((const uint16_t*)x, (float*)y, rows, columns, x_row, y_row);
      for (ptrdiff_t i = 0; i < rows && form != 3; ++i)
        for (ptrdiff_t j = 0; j < columns; ++j) {
          const ptrdiff_t from = i * x_row + j, to = j * y_row + i;
          if (form == 0) ((uint8_t*)expected)[to] = ((const uint8_t*)x)[from];
          if (form == 1) ((uint16_t*)expected)[to] = ((const uint16_t*)x)[from];
          if (form == 2) expected[to] = x[from];
          if (form == 4) {
            const float f = K_f16_to_f32(((const uint16_t*)x)[from]);
            memcpy(expected + to, &f, sizeof f);
          }
        }
      if (memcmp(y, expected, sizeof y) != 0 || told != beyond) {
        printf("form %d, %d x %d, kind %d: other bits\n", form, (int)rows, (int)columns, kind);
        return 1;
      }
    }
  }
  return 0;
}
