// The sums in registers of products of bytes, written out so that each has one: see kernels/integers.c.
#include <fmt/format.h>

#include "kernel_pieces.h"

namespace mrvlc::chost {

// rows x K_QTILE sums over k: t[r][j] = sum of a[i][r] * b[i * ldb + j], quads.
std::string integer_micro(int rows) {
  std::string sums, step, store;
  for (int r = 0; r < rows; ++r) {
    sums += fmt::format("    K_qv s{0} = {{0}}, u{0} = {{0}};\n", r);
    step += fmt::format(
        "      {{\n        K_QW(w, K_QALL(x[{0}]));\n        K_QSUM(s{0}, y, w);\n        K_QSUM(u{0}, z, "
        "w);\n"
        "      }}\n",
        r);
    store += fmt::format(
        "    K_QSTORE(t + {0} * K_QTILE + j, s{0});\n    K_QSTORE(t + {0} * K_QTILE + j + K_QVW, u{0});\n",
        r);
  }
  return fmt::format(
      R"(static void K_imicro{0}(ptrdiff_t k, const uint32_t* a, const uint32_t* b, ptrdiff_t ldb, uint32_t* t) {{
#if K_QVW
  for (ptrdiff_t j = 0; j < K_QTILE; j += 2 * K_QVW) {{
    const uint32_t *x = a, *v = b + j;
{1}    for (ptrdiff_t i = 0; i < k; ++i, x += {0}, v += ldb) {{
      K_QX(y, K_QLOAD(v));
      K_QX(z, K_QLOAD(v + K_QVW));
{2}    }}
{3}  }}
#else
  for (ptrdiff_t r = 0; r < {0}; ++r) {{
    for (ptrdiff_t j = 0; j < K_QTILE; ++j) {{
      uint32_t s = 0;
      for (ptrdiff_t i = 0; i < k; ++i) s = K_quad(s, b[i * ldb + j], a[i * {0} + r]);
      t[r * K_QTILE + j] = s;
    }}
  }}
#endif
}}
)",
      rows, sums, step, store);
}

// tiles x pixels x K_QROWS sums over k: t[tile][pixel][j] = sum of w[tile * w_tile + i * K_QROWS + j] *
// x[i * x_k + pixel * x_p], quads.
std::string integer_rows(int tiles, int pixels) {
  std::string sums, rows, step, store;
  for (int r = 0; r < tiles; ++r) rows += fmt::format("      K_QW(w{0}, K_QLOAD(v + {0} * w_tile));\n", r);
  for (int p = 0; p < pixels; ++p) {
    step += fmt::format("      {{\n        K_QX(y, K_QALL(u[{} * x_p]));\n", p);
    for (int r = 0; r < tiles; ++r) {
      sums += fmt::format("    K_qv s{} = {{0}};\n", r * pixels + p);
      step += fmt::format("        K_QSUM(s{}, y, w{});\n", r * pixels + p, r);
      store += fmt::format("    K_QSTORE(t + {0} * K_QROWS + j, s{0});\n", r * pixels + p);
    }
    step += "      }\n";
  }
  return fmt::format(
      R"(static void K_irows{0}{1}(ptrdiff_t k, const uint32_t* w, ptrdiff_t w_tile, const uint32_t* x, ptrdiff_t x_k,
                      ptrdiff_t x_p, uint32_t* t) {{
  (void)w_tile;
  (void)x_p;
#if K_QVW
  for (ptrdiff_t j = 0; j < K_QROWS; j += K_QVW) {{
    const uint32_t *u = x, *v = w + j;
{2}    for (ptrdiff_t i = 0; i < k; ++i, u += x_k, v += K_QROWS) {{
{3}{4}    }}
{5}  }}
#else
  for (ptrdiff_t r = 0; r < {0} * {1}; ++r) {{
    const uint32_t *u = x + r % {1} * x_p, *v = w + r / {1} * w_tile;
    for (ptrdiff_t j = 0; j < K_QROWS; ++j) {{
      uint32_t s = 0;
      for (ptrdiff_t i = 0; i < k; ++i) s = K_quad(s, u[i * x_k], v[i * K_QROWS + j]);
      t[r * K_QROWS + j] = s;
    }}
  }}
#endif
}}
)",
      tiles, pixels, sums, rows, step, store);
}

}  // namespace mrvlc::chost
