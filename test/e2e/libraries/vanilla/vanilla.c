#include "vanilla.h"

#include <stdio.h>
#include <stdlib.h>

static int calls;

static void tell(void) {
  const char* name = getenv("VANILLA_CALLS");
  FILE* file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%d\n", calls);
  fclose(file);
}

void vanilla_conv2dnchw(const float* ifmap, const float* weights, float* result, int oc, int iw, int ih,
                        int ic, int kh, int kw) {
  if (calls++ == 0) atexit(tell);
  for (int o = 0; o < oc; ++o) {
    for (int y = 0; y < ih; ++y) {
      for (int x = 0; x < iw; ++x) {
        float sum = 0;
        for (int i = 0; i < ic; ++i) {
          for (int r = 0; r < kh; ++r) {
            for (int s = 0; s < kw; ++s) {
              const int v = y + r - (kh - 1) / 2, u = x + s - (kw - 1) / 2;
              if (v < 0 || v >= ih || u < 0 || u >= iw) continue;
              sum += ifmap[(i * ih + v) * iw + u] * weights[((o * ic + i) * kh + r) * kw + s];
            }
          }
        }
        result[(o * ih + y) * iw + x] = sum;
      }
    }
  }
}
