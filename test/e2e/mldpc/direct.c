/* usage: direct BINARY INPUTS OUTPUTS: the same as card.c by the device of the simulator. Types are read off
 * the metadata (docs/isa.md) and converted here: fp16 by the compiler's _Float16 where it differs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mrvl/device.h"

static unsigned char file[64 << 20];

static float from_half(uint16_t h) {
  const uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, mantissa = h & 1023;
  float magnitude;
  uint32_t bits;
  if (exponent == 0) {
    magnitude = (float)mantissa / 16777216.0f;
  } else {
    bits = exponent == 31 ? 0x7f800000u | mantissa << 13 : (exponent + 112) << 23 | mantissa << 13;
    memcpy(&magnitude, &bits, 4);
  }
  memcpy(&bits, &magnitude, 4);
  bits |= sign;
  memcpy(&magnitude, &bits, 4);
  return magnitude;
}

/* Round to nearest even, by looking at the two halves around the value. */
static uint16_t to_half(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
  const float a = f < 0 ? -f : f;
  if (a != a) return sign | 0x7e00u;
  if (a >= 65520.0f) return sign | 0x7c00u;
  uint16_t low = 0, high = 0x7bffu;
  while (high - low > 1) {
    const uint16_t middle = (uint16_t)((low + high) / 2);
    if (from_half(middle) <= a)
      low = middle;
    else
      high = middle;
  }
  if (from_half(high) <= a) return sign | high;
  const float below = a - from_half(low), above = from_half(high) - a;
  return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

static size_t width(int type) {
  return type == 8 ? 4 : type == 7 ? 2 : 1;
}

static uint32_t number(const unsigned char* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void convert(int from, int to, const unsigned char* x, unsigned char* y, size_t n) {
  for (size_t i = 0; i < n; ++i, x += width(from), y += width(to)) {
    float f;
    uint16_t h;
    if (from == to) {
      memcpy(y, x, width(to));
    } else if (to == 7) {
      memcpy(&f, x, 4);
      h = to_half(f);
      memcpy(y, &h, 2);
    } else {
      memcpy(&h, x, 2);
      f = from_half(h);
      memcpy(y, &f, 4);
    }
  }
}

int main(int argc, char** argv) {
  mrvl_input in[32];
  mrvl_output out[32];
  void* model;
  if (argc != 4) return 2;
  FILE* f = fopen(argv[1], "rb");
  const size_t size = f ? fread(file, 1, sizeof file, f) : 0;
  FILE* given = fopen(argv[2], "rb");
  FILE* result = fopen(argv[3], "wb");
  mrvl_device* d = mrvl_simulator_open("cn10ka");
  if (size < 8192 || !given || !result || d->load(d->context, file, size, &model) != 0) return 3;
  const int inputs = file[345], outputs = file[346];
  for (int i = 0; i < inputs; ++i) {
    const unsigned char* p = file + 1280 + 64 * i;
    const size_t n = (size_t)number(p + 20) * number(p + 24) * number(p + 28) * number(p + 32);
    unsigned char* outer = malloc(n * 4);
    unsigned char* inner = malloc(n * 4);
    if (fread(outer, width(p[10]), n, given) != n) return 4;
    convert(p[10], p[11], outer, inner, n);
    in[i].data = inner;
    in[i].bytes = n * width(p[11]);
  }
  for (int i = 0; i < outputs; ++i) {
    const unsigned char* p = file + 1792 + 64 * i;
    out[i].bytes = number(p + 16) * width(p[11]);
    out[i].data = malloc(out[i].bytes);
  }
  if (d->run(d->context, model, in, (size_t)inputs, out, (size_t)outputs) != 0) return 5;
  for (int i = 0; i < outputs; ++i) {
    const unsigned char* p = file + 1792 + 64 * i;
    const size_t n = number(p + 16);
    unsigned char* outer = malloc(n * 4);
    convert(p[11], p[10], out[i].data, outer, n);
    fwrite(outer, width(p[10]), n, result);
  }
  fclose(result);
  return 0;
}
