// Stockham passes by the smallest prime factor left, in double for the reference and the same loops in C.
#include "signal/fft.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::ops {
namespace {

// Twiddles of longer transforms are computed by the generated code, for a table would take megabytes.
constexpr int64_t kMostInTable = 1 << 15;

}  // namespace

std::vector<double> fft_twiddles(int64_t n, bool inverse) {
  std::vector<double> w(at(2 * n));
  for (int64_t k = 0; k < n; ++k) {
    double angle = kTurn * static_cast<double>(k) / static_cast<double>(n);
    w[at(2 * k)] = std::cos(angle);
    w[at(2 * k + 1)] = inverse ? std::sin(angle) : -std::sin(angle);
  }
  return w;
}

void fft(std::vector<double>& a, std::vector<double>& b, const std::vector<double>& twiddles) {
  const double* w = twiddles.data();
  auto n = static_cast<int64_t>(twiddles.size() / 2);
  for (int64_t m = 1, rest = n; rest > 1;) {
    int64_t p = 2;
    while (rest % p != 0) ++p;
    rest /= p;
    for (int64_t i = 0; i < rest * p; ++i) {
      int64_t k = i / p, t = i % p;
      double* to = b.data() + 2 * m * i;
      std::fill(to, to + 2 * m, 0.0);
      for (int64_t q = 0; q < p; ++q) {
        int64_t e = (m * k * t + n / p * (q * t % p)) % n;
        const double *from = a.data() + 2 * m * (k + rest * q), re = w[2 * e], im = w[2 * e + 1];
        for (int64_t j = 0; j < 2 * m; j += 2) {
          to[j] += re * from[j] - im * from[j + 1];
          to[j + 1] += re * from[j + 1] + im * from[j];
        }
      }
    }
    std::swap(a, b);
    m *= p;
  }
}

void emit_fft_start(EmitContext& context, const FftCode& code) {
  std::string_view type = c_type(code.elem);
  int64_t bytes = std::max<int64_t>(1, 2 * code.most) * byte_size(code.elem);
  for (std::string_view name : {"a", "b"})
    context.line(fmt::format("{0}* {1} = ({0}*){2};", type, name, context.scratch(bytes)));
  if (code.known >= 0 && code.known <= kMostInTable) {
    auto table = Tensor::of(code.elem, {2 * code.known}, fft_twiddles(code.known, code.inverse));
    context.line(fmt::format("const {}* w = {};", type, context.table(table)));
    return;
  }
  context.line(fmt::format("{0}* w = ({0}*){1};", type, context.scratch(bytes)));
  context.open("for (ptrdiff_t k = 0; k < n; ++k)");
  context.line(
      fmt::format("const double angle = {} * (double)k / (double)n;", c_literal(kTurn, ElementType::F64)));
  context.line(fmt::format("w[2 * k] = ({})cos(angle);", type));
  context.line(fmt::format("w[2 * k + 1] = ({})({}sin(angle));", type, code.inverse ? "" : "-"));
  context.close();
}

void emit_fft(EmitContext& context, const FftCode& code) {
  std::string_view type = c_type(code.elem);
  context.open("for (ptrdiff_t m = 1, rest = n; rest > 1;)");
  context.line("ptrdiff_t p = 2;");
  context.line("while (rest % p != 0) ++p;");
  context.line("rest /= p;");
  context.open("for (ptrdiff_t i = 0; i < rest * p; ++i)");
  context.line("const ptrdiff_t k = i / p, t = i % p;");
  context.line(fmt::format("{}* to = b + 2 * m * i;", type));
  context.line("for (ptrdiff_t j = 0; j < 2 * m; ++j) to[j] = 0;");
  context.open("for (ptrdiff_t q = 0; q < p; ++q)");
  context.line("const ptrdiff_t e = (m * k * t + n / p * (q * t % p)) % n;");
  context.line(fmt::format("const {} re = w[2 * e], im = w[2 * e + 1];", type));
  context.line(fmt::format("const {}* from = a + 2 * m * (k + rest * q);", type));
  context.open("for (ptrdiff_t j = 0; j < 2 * m; j += 2)");
  context.line("to[j] += re * from[j] - im * from[j + 1];");
  context.line("to[j + 1] += re * from[j + 1] + im * from[j];");
  context.close();
  context.close();
  context.close();
  context.line(fmt::format("{}* last = a;", type));
  context.line("a = b;");
  context.line("b = last;");
  context.line("m *= p;");
  context.close();
}

}  // namespace mrvlc::ops
