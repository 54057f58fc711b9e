#!/usr/bin/env python3
"""Conversions at the borders of regions: plain loops against those of generated C (lib/chost/kernels/border.c).

usage: scripts/border_speed.py KERNELS [--cc COMPILER] [--flags FLAGS]        KERNELS: build/lib/kernels

A line a shape: nanoseconds an element, of fp32 in the model's order to fp16 with channels last, back, and of 16 bits both ways; before
(loops as generated C had them) and now, and how many times as fast. The least of 25 rounds. Ends with an error where bits differ."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).absolute().parent.parent
sys.path.insert(0, str(ROOT / "test/unit/chost"))
from kernel_source import Kernels  # noqa: E402

SHAPES = [(3, 224 * 224), (3, 480 * 640), (4, 120 * 160), (16, 112 * 112), (24, 56 * 56), (64, 56 * 56), (128, 28 * 28), (256, 28 * 28), (512, 14 * 14),
          (1000, 49), (1024, 14 * 14)]
PIECES = ["narrow_turn", "widen_turn", "turn_words"]
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { PART = 128 };
#define LOOPS(a, n, b, m) for (ptrdiff_t a = 0; a < (n); ++a) for (ptrdiff_t b = 0; b < (m); ++b)
static uint32_t plain_to(const float* restrict x, uint16_t* restrict y) {
  uint32_t beyond = 0;
  LOOPS(i, PIXELS, c, CHANNELS) {
    const float v = x[i + c * PIXELS];
    const uint16_t h = K_f32_to_f16(v);
    beyond |= (uint32_t)((h & 0x7fffu) == 0x7c00u) & (uint32_t)(v - v == 0.0f);
    y[i * CHANNELS + c] = h;
  }
  return beyond;
}
static void plain_from(const uint16_t* restrict x, float* restrict y) {
  LOOPS(c, CHANNELS, i, PIXELS) y[i + c * PIXELS] = K_f16_to_f32(x[i * CHANNELS + c]);
}
static void plain_words_to(const uint16_t* restrict x, uint16_t* restrict y) {
  LOOPS(i, PIXELS, c, CHANNELS) y[i * CHANNELS + c] = x[i + c * PIXELS];
}
static void plain_words_from(const uint16_t* restrict x, uint16_t* restrict y) {
  LOOPS(c, CHANNELS, i, PIXELS) y[i + c * PIXELS] = x[i * CHANNELS + c];
}
/* As lib/chost/border.cpp emits them. */
static uint32_t now_to(const float* restrict x, uint16_t* restrict y) {
#if CHANNELS < 8
  uint16_t tile[CHANNELS * PART];
  uint32_t beyond = 0;
  for (ptrdiff_t p = 0; p < PIXELS; p += PART) {
    const ptrdiff_t n = PIXELS - p < PART ? PIXELS - p : PART;
    for (ptrdiff_t c = 0; c < CHANNELS; ++c) beyond |= K_narrow_floats(x + c * PIXELS + p, tile + c * PART, n);
    LOOPS(k, n, c, CHANNELS) y[(p + k) * CHANNELS + c] = tile[c * PART + k];
  }
  return beyond;
#else
  return K_narrow_turn(x, y, CHANNELS, PIXELS, PIXELS, CHANNELS);
#endif
}
static void now_from(const uint16_t* restrict x, float* restrict y) {
#if CHANNELS < 8
  plain_from(x, y);
#else
  K_widen_turn(x, y, PIXELS, CHANNELS, CHANNELS, PIXELS);
#endif
}
static void now_words_to(const uint16_t* restrict x, uint16_t* restrict y) {
  if (CHANNELS < 8) plain_words_to(x, y); else K_turn_words(x, y, CHANNELS, PIXELS, PIXELS, CHANNELS);
}
static void now_words_from(const uint16_t* restrict x, uint16_t* restrict y) {
  if (CHANNELS < 8) plain_words_from(x, y); else K_turn_words(x, y, PIXELS, CHANNELS, CHANNELS, PIXELS);
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
#define LEAST(var, call) \
  for (int q = 0; q < 25; ++q) { \
    const double begin = now(); \
    call; \
    const double took = (now() - begin) / (double)((size_t)CHANNELS * PIXELS); \
    if (q == 0 || took < var) var = took; \
  }
#define BOTH(plain, better, a, b, bytes) { \
    double before = 0, after = 0; \
    LEAST(before, plain) LEAST(after, better) \
    printf(" %.3f | %.3f | %.1f |", before, after, before / after); \
    if (memcmp(a, b, bytes) != 0) return 1; }
int main(void) {
  const size_t n = (size_t)CHANNELS * PIXELS;
  float *x = malloc(4 * n), *a = malloc(4 * n), *b = malloc(4 * n);
  uint16_t *h = malloc(2 * n), *c = malloc(2 * n), *d = malloc(2 * n);
  uint32_t beyond[2] = {0, 0};
  for (size_t i = 0; i < n; ++i) x[i] = (float)(i * 2654435761u % 65536u) / 1024.0f - 32.0f, h[i] = (uint16_t)(i * 40503u);
  BOTH(beyond[0] |= plain_to(x, c), beyond[1] |= now_to(x, d), c, d, 2 * n)
  BOTH(plain_from(h, a), now_from(h, b), a, b, 4 * n)
  BOTH(plain_words_to(h, c), now_words_to(h, d), c, d, 2 * n)
  BOTH(plain_words_from(h, c), now_words_from(h, d), c, d, 2 * n)
  printf("\n");
  return beyond[0] != beyond[1];
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--flags", default="-O3 -march=native")
    args = parser.parse_args()
    headers = "#define _POSIX_C_SOURCE 199309L\n" + "".join(f"#include <{name}.h>\n" for name in ("math", "stddef", "stdint", "string"))
    source = headers + Kernels(args.kernels).source(PIECES) + PROGRAM
    columns = [f"{what} {word}" for what in ("fp32 to fp16", "fp16 to fp32", "16 bits to", "16 bits from") for word in ("before", "now", "times")]
    print("| channels x pixels | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for channels, pixels in SHAPES:
            program = f"{folder}/speed"
            command = [args.cc, "-std=c99", "-w", *args.flags.split(), f"-DCHANNELS={channels}", f"-DPIXELS={pixels}", "-x", "c", "-", "-o", program, "-lm"]
            subprocess.run(command, input=source, text=True, check=True)
            print(f"| {channels} x {pixels} |", end="", flush=True)
            done = subprocess.run([program], capture_output=True, text=True)
            print(done.stdout, end="", flush=True)
            if done.returncode != 0:
                sys.exit("border_speed: other bits")


main()
