// The sums of K_conv_rows in registers, for each number of rows.
#include <fmt/format.h>

#include "kernel_pieces.h"

namespace mrvlc::chost {

std::string conv_tile(int rows) {
  std::string wide = "s0", pairs = "s0, u0";
  for (int r = 1; r < rows; ++r) {
    wide += fmt::format(", s{}", r);
    pairs += fmt::format(", s{0}, u{0}", r);
  }
  return fmt::format(
      R"(static void K_conv_tile{0}(const K_tiles* q, const float* w, const float* b0, const float* b1,
                         float* y0, float* y1, const float* bias) {{
  const int *at = q->at, *const end = at + q->k;
  const ptrdiff_t ldy = q->ldy;
#if K_VW
  const K_vec lo = (K_vec){{0}} + q->lo, hi = (K_vec){{0}} + q->hi;
#if K_WIDE
  if (b1 == b0 + 8) {{
    K_wide_sum {1};
    if (q->first) {{ K_ROWS{0}(K_WIDE_BIAS) }} else {{ K_ROWS{0}(K_WIDE_FROM) }}
    for (; at < end; ++at, w += {0}) {{
      const K_wide v = K_WIDE_LOAD(b0 + *at);
      K_ROWS{0}(K_WIDE_ADD)
    }}
    K_ROWS{0}(K_WIDE_TO)
    return;
  }}
#endif
  for (ptrdiff_t j = 0; j < 16; j += 2 * K_VW) {{
    K_vec {2};
    const float *const b = j == 0 ? b0 : b1, *const c = K_VW == 8 ? b1 : b + K_VW, *a = w;
    float *const y = j == 0 ? y0 : y1, *const z = K_VW == 8 ? y1 : y + K_VW;
    if (q->first) {{ K_ROWS{0}(K_HALF_BIAS) }} else {{ K_ROWS{0}(K_HALF_FROM) }}
    for (const int* i = at; i < end; ++i, a += {0}) {{
      const K_vec v0 = K_LOAD(b + *i), v1 = K_LOAD(c + *i);
      K_ROWS{0}(K_HALF_ADD)
    }}
    K_ROWS{0}(K_HALF_PUT)
  }}
#else
  for (ptrdiff_t i = 0; i < {0} * 2; ++i) {{
    const float *b = i % 2 ? b1 : b0, *a = w + i / 2;
    float s[8], *y = (i % 2 ? y1 : y0) + i / 2 * ldy;
    for (ptrdiff_t j = 0; j < 8; ++j) s[j] = q->first ? bias[i / 2] : y[j];
    for (const int* k = at; k < end; ++k, a += {0}) {{
      for (ptrdiff_t j = 0; j < 8; ++j) s[j] += *a * b[*k + j];
    }}
    for (ptrdiff_t j = 0; j < 8; ++j) {{
      s[j] = s[j] < q->lo ? q->lo : s[j];
      y[j] = s[j] > q->hi ? q->hi : s[j];
    }}
  }}
#endif
}}
)",
      rows, wide, pairs);
}

}  // namespace mrvlc::chost
