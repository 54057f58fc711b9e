// Kernels that are bound by the stream of their weights, for weights of 16 bits: made of the text of those
// for floats, so that each stands once.
#include <array>
#include <utility>

#include "kernel_pieces.h"

namespace mrvlc::chost {
namespace {

// In this order: names, so that a program may have both; then how weights are declared and read.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kRewritten = {{
    {"K_micro1", "K_micro1_half"},
    {"K_gemv", "K_gemv_half"},
    {"K_recurrent", "K_recurrent_half"},
    {"K_KEEP", "K_KEEP_HALF"},
    {"K_sums", "K_half_sums"},
    {"K_SUMS_LOAD(w", "K_LOAD_HALF_SUMS(w"},
    {"K_SUMS", "K_HALF_SUMS"},
    {"const float* b,", "const uint16_t* b,"},
    {"const float *b1", "const uint16_t *b1"},
    {"const float* w,", "const uint16_t* w,"},
    {"const float* const from", "const uint16_t* const from"},
    {"K_LOAD(b", "K_LOAD_HALF(b"},
    {"* b[i * K_LANES + j]", "* K_half(b[i * K_LANES + j])"},
    // A loop of conversions and one of sums: compilers make vectors of both, and not of one of either.
    {"    for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += x[i] * w[j];",
     "    float u[K_LANES];\n    K_half_lanes(w, u);\n"
     "    for (ptrdiff_t j = 0; j < K_LANES; ++j) s[j] += x[i] * u[j];"},
    // What else a program has is another kernel's.
    {"//@ when gemv_panels", "//@ when gemv_panels_half"},
}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Without "//@ unless ..." and its "//@ end": the lines between are for all.
std::string without_unless(std::string_view text) {
  std::string out;
  bool inside = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const bool begins = line.starts_with("//@ unless "), ends = inside && line.starts_with("//@ end");
    inside = begins || (inside && !ends);
    if (!begins && !ends) out += line;
  }
  return out;
}

}  // namespace

std::string in_halves(std::string_view text) {
  std::string out = without_unless(text);
  for (const auto& [from, to] : kRewritten) replace_all(out, from, to);
  return out;
}

}  // namespace mrvlc::chost
