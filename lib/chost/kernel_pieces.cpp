// kernels/*.c taken apart. The sums in registers are written here, for each number of rows.
#include "kernel_pieces.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "kernel_text.h"
#include "mrvlc/support/characters.h"

namespace mrvlc::chost {
namespace {

constexpr std::string_view kNames[] = {
#define MRVLC_PIECE(name) #name,
#include "kernel_pieces.def"
#undef MRVLC_PIECE
};
using Kernels = std::array<KernelPiece, std::size(kNames)>;

// The operand of row r, x being the operand of row 0.
std::string row_operand(int r) {
  return r == 0 ? "*x" : r == 1 ? "x[a_row]" : fmt::format("x[{} * a_row]", r);
}

// One vector for the 16 sums of a row.
std::string wide_kernel(int rows) {
  std::string sums, step, store;
  for (int r = 0; r < rows; ++r) {
    sums += fmt::format("  K_wide s{} = {{0}};\n", r);
    step += fmt::format("    s{} += {} * y;\n", r, row_operand(r));
    store += fmt::format("  *(K_wideu*)(void*)(t + {}) = s{};\n", r * 16, r);
  }
  return fmt::format(
      "  const float* x = a;\n{}  for (ptrdiff_t i = 0; i < k; ++i, x += a_k, b += ldb) {{\n"
      "    const K_wide y = *(const K_wideu*)(const void*)b;\n{}  }}\n{}",
      sums, step, store);
}

// Two vectors of columns at a time, which suits 16 registers and 32.
std::string vector_kernel(int rows) {
  std::string sums, step, store;
  for (int r = 0; r < rows; ++r) {
    sums += fmt::format("    K_vec s{0} = {{0}}, u{0} = {{0}};\n", r);
    step += fmt::format("      s{0} += {1} * y0;\n      u{0} += {1} * y1;\n", r, row_operand(r));
    store +=
        fmt::format("    K_STORE(t + {0} + j, s{1});\n    K_STORE(t + {0} + j + K_VW, u{1});\n", r * 16, r);
  }
  return fmt::format(
      "  for (ptrdiff_t j = 0; j < K_LANES; j += 2 * K_VW) {{\n    const float *x = a, *y = b + j;\n{}"
      "    for (ptrdiff_t i = 0; i < k; ++i, x += a_k, y += ldb) {{\n"
      "      const K_vec y0 = K_LOAD(y), y1 = K_LOAD(y + K_VW);\n{}    }}\n{}  }}\n",
      sums, step, store);
}

// rows x 16 sums over k: t[r][j] = sum of a[r * a_row + i * a_k] * b[i * ldb + j]. Written out for each
// number of rows so that every sum has a register.
std::string micro_kernel(int rows) {
  // A single wide sum would wait for itself.
  std::string head = rows == 1 ? "  (void)a_row;\n#" : "#if K_WIDE\n" + wide_kernel(rows) + "#el";
  return fmt::format(
      R"(static void K_micro{0}(ptrdiff_t k, const float* a, ptrdiff_t a_row, ptrdiff_t a_k, const float* b,
                     ptrdiff_t ldb, float* t) {{
{1}if K_VW
{2}#else
  for (ptrdiff_t r = 0; r < {0}; ++r, t += K_LANES) {{
    float s[K_LANES] = {{0}};
    for (ptrdiff_t i = 0; i < k; ++i) {{
      const float x = a[r * a_row + i * a_k];
      for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += x * b[i * ldb + j];
    }}
    memcpy(t, s, sizeof s);
  }}
#endif
}}
)",
      rows, head, vector_kernel(rows));
}

// rows x 16 results of a packed panel, see K_conv_tiles: from the bias or from what is there, in registers
// until they are clamped.
std::string conv_kernel(int rows) {
  std::string wide, wide_step, wide_put, pairs, load, step, put;
  for (int r = 0; r < rows; ++r) {
    wide +=
        fmt::format("  K_wide s{0} = first ? (K_wide){{0}} + bias[{0}] : K_WIDE_LOAD(y + {0} * ldy);\n", r);
    wide_step += fmt::format("    s{0} += a[{0}] * v;\n", r);
    wide_put += fmt::format("  K_WIDE_PUT(y + {0} * ldy, s{0});\n", r);
    pairs += fmt::format("    K_vec s{0} = (K_vec){{0}} + bias[{0}], u{0} = s{0};\n", r);
    load += fmt::format("      s{0} = K_LOAD(z + {0} * ldy), u{0} = K_LOAD(z + {0} * ldy + K_VW);\n", r);
    step += fmt::format("      s{0} += x[{0}] * v0, u{0} += x[{0}] * v1;\n", r);
    put += fmt::format("    K_PUT_CLAMPED(z + {0} * ldy, s{0}), K_PUT_CLAMPED(z + {0} * ldy + K_VW, u{0});\n",
                       r);
  }
  return fmt::format(
      R"(static void K_conv{0}(const K_conv_tiles* q, const float* a, const float* b, const float* bias, float* y) {{
  const ptrdiff_t k = q->k, ldb = q->ldb, ldy = q->ldy;
  const int first = q->first;
#if K_WIDE
  const K_wide lo = (K_wide){{0}} + q->lo, hi = (K_wide){{0}} + q->hi;
{1}  for (ptrdiff_t i = 0; i < k; ++i, a += {0}, b += ldb) {{
    const K_wide v = K_WIDE_LOAD(b);
{2}  }}
{3}#elif K_VW
  const K_vec lo = (K_vec){{0}} + q->lo, hi = (K_vec){{0}} + q->hi;
  for (ptrdiff_t j = 0; j < K_LANES; j += 2 * K_VW) {{
    const float *x = a, *from = b + j;
    float* const z = y + j;
{4}    if (!first) {{
{5}    }}
    for (ptrdiff_t i = 0; i < k; ++i, x += {0}, from += ldb) {{
      const K_vec v0 = K_LOAD(from), v1 = K_LOAD(from + K_VW);
{6}    }}
{7}  }}
#else
  for (ptrdiff_t r = 0; r < {0}; ++r, y += ldy) {{
    float s[K_LANES];
    for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] = first ? bias[r] : y[j];
    for (ptrdiff_t i = 0; i < k; ++i) {{
      const float x = a[r + {0} * i];
      for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += x * b[i * ldb + j];
    }}
    for (ptrdiff_t j = 0; j < K_LANES; ++j) {{
      s[j] = s[j] < q->lo ? q->lo : s[j];
      y[j] = s[j] > q->hi ? q->hi : s[j];
    }}
  }}
#endif
}}
)",
      rows, wide, wide_step, wide_put, pairs, load, step, put);
}

// 12 x 8 sums of two panels of six rows and one vector, as rows of 16.
std::string narrow_kernel() {
  std::string sums, step, store;
  for (int r = 0; r < 12; ++r) {
    sums += fmt::format("{}s{} = {{0}}", r == 0 ? "" : ", ", r);
    step += fmt::format("    s{} += {}[{}] * y;\n", r, r < 6 ? "a" : "c", r % 6);
    store += fmt::format("  K_STORE(t + {}, s{});\n", r * 16, r);
  }
  return fmt::format(
      "#if K_VW == 8\nstatic void K_micro12(ptrdiff_t k, const float* a, const float* c, const float* b, "
      "ptrdiff_t ldb, float* t) {{\n  K_vec {};\n  for (ptrdiff_t i = 0; i < k; ++i, a += 6, c += 6, b += "
      "ldb) {{\n"
      "    const K_vec y = K_LOAD(b);\n{}  }}\n{}}}\n#endif\n",
      sums, step, store);
}

// The identifier in front of the first "(".
std::string symbol_of(std::string_view head) {
  size_t end = head.find('(');
  if (end == std::string_view::npos) return {};
  size_t begin = end;
  while (begin > 0 && is_word(head[begin - 1])) --begin;
  return std::string(head.substr(begin, end - begin));
}

// The names behind the colon of "NAME: DEPS".
std::vector<Piece> deps_of(std::string_view head) {
  std::vector<Piece> deps;
  size_t at = std::min(head.find(':'), head.size());
  while ((at = head.find_first_not_of(": ", at)) != std::string_view::npos) {
    const size_t end = std::min(head.find(' ', at), head.size());
    deps.push_back(*find_piece(head.substr(at, end - at)));
    at = end;
  }
  return deps;
}

void add(Kernels& kernels, Piece piece, std::vector<Piece> deps, std::string text) {
  std::vector<FunctionLines> functions = functions_of(text);
  kernels[static_cast<size_t>(piece)] = {std::move(deps), std::move(text), std::move(functions)};
}

// "//@ piece NAME: DEPS" and everything up to the next such line.
void split(std::string_view code, Kernels& kernels) {
  constexpr std::string_view kMark = "//@ piece ";
  size_t at = code.find(kMark);
  while (at != std::string_view::npos) {
    const size_t eol = code.find('\n', at), next = code.find(kMark, eol);
    const std::string_view head = code.substr(at + kMark.size(), eol - at - kMark.size());
    std::string text(code.substr(eol + 1, next == std::string_view::npos ? next : next - eol - 1));
    while (text.ends_with("\n\n")) text.pop_back();
    add(kernels, *find_piece(head.substr(0, head.find(':'))), deps_of(head), std::move(text));
    at = next;
  }
}

const Kernels& kernels() {
  static const Kernels all = [] {
    Kernels k;
    for (size_t i = 0; i < kKernelTextCount; ++i) split(kKernelTexts[i].code, k);
    add(k, Piece::micro1, {Piece::base}, micro_kernel(1));
    add(k, Piece::micro4, {Piece::base}, micro_kernel(4));
    add(k, Piece::micro6, {Piece::base}, micro_kernel(6));
    add(k, Piece::micro12, {Piece::base}, narrow_kernel());
    add(k, Piece::conv4, {Piece::conv_tiles}, conv_kernel(4));
    add(k, Piece::conv6, {Piece::conv_tiles}, conv_kernel(6));
    add(k, Piece::conv_tile4, {Piece::conv_tiles}, conv_tile(4));
    add(k, Piece::conv_tile6, {Piece::conv_tiles}, conv_tile(6));
    add(k, Piece::imicro4, {Piece::dot}, integer_micro(4));
    add(k, Piece::imicro6, {Piece::dot}, integer_micro(6));
    add(k, Piece::irows11, {Piece::dot}, integer_rows(1, 1));
    add(k, Piece::irows14, {Piece::dot}, integer_rows(1, 4));
    add(k, Piece::irows41, {Piece::dot}, integer_rows(4, 1));
    return k;
  }();
  return all;
}

}  // namespace

std::optional<Piece> find_piece(std::string_view name) {
  static const std::map<std::string_view, Piece> all = [] {
    std::map<std::string_view, Piece> m;
    for (size_t i = 0; i < std::size(kNames); ++i) m.emplace(kNames[i], static_cast<Piece>(i));
    return m;
  }();
  auto it = all.find(name);
  return it == all.end() ? std::nullopt : std::optional(it->second);
}

std::string_view name(Piece piece) {
  return kNames[static_cast<size_t>(piece)];
}

const KernelPiece& kernel(Piece piece) {
  return kernels()[static_cast<size_t>(piece)];
}

std::string with_prefix(std::string_view text, std::string_view prefix) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'K' && i + 1 < text.size() && text[i + 1] == '_' && (i == 0 || !is_word(text[i - 1]))) {
      out += prefix;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<FunctionLines> functions_of(std::string_view text) {
  std::vector<FunctionLines> found;
  std::string head;
  uint32_t line_number = 0, head_line = 0;
  bool in_body = false;
  while (!text.empty()) {
    size_t eol = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, eol);
    text.remove_prefix(std::min(eol + 1, text.size()));
    ++line_number;
    if (in_body) {
      if (!line.starts_with('}')) continue;
      if (line == "}") {
        found.push_back({symbol_of(head), head_line, line_number});
      }
      in_body = false;
      head.clear();
      continue;
    }
    bool starts = !line.empty() && (is_word(line[0]));
    if (starts) {
      head = line;
      head_line = line_number;
    } else if (!head.empty() && line.starts_with(' ')) {
      head += line;
    } else {
      head.clear();
    }
    if (head.ends_with(';')) head.clear();
    if (!head.empty() && head.ends_with('{')) in_body = true;
  }
  return found;
}

}  // namespace mrvlc::chost
