// Stockham passes by the smallest prime factor left, in double for the reference and the same loops in C.
#include "signal/fft.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::ops {
namespace {

// Twiddles of longer transforms are computed by the generated code, for a table would take megabytes.
constexpr int64_t kMostInTable = 1 << 15;

int64_t greatest_prime_factor(int64_t n) {
  int64_t greatest = 1;
  for (int64_t p = 2; n > 1; ++p) {
    if (p * p > n) p = n;
    for (; n % p == 0; n /= p) greatest = p;
  }
  return greatest;
}

// Steps by a prime factor grow with it; from here on a convolution with a chirp is faster.
bool uses_chirp(const EmitContext& context, const FftCode& code) {
  constexpr int64_t kGreatestFactor = 20;
  return !context.wants_little_text() && code.known > kGreatestFactor &&
         greatest_prime_factor(code.known) > kGreatestFactor;
}

// The power of two that holds the convolution.
int64_t chirp_length(int64_t n) {
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}

// exp(-pi i k k / n) for k < n, or its conjugates.
std::vector<double> chirp_of(int64_t n, bool inverse) {
  std::vector<double> c(at(2 * n));
  for (int64_t k = 0; k < n; ++k) {
    const double angle = kTurn / 2 * static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
    c[at(2 * k)] = std::cos(angle);
    c[at(2 * k + 1)] = inverse ? std::sin(angle) : -std::sin(angle);
  }
  return c;
}

// Of the chirp's conjugates, around 0, divided by m: all real parts, then all imaginary ones.
std::vector<double> chirp_spectrum(const std::vector<double>& chirp, int64_t m) {
  const int64_t n = static_cast<int64_t>(chirp.size()) / 2;
  std::vector<double> a(at(2 * m)), b(a.size()), parts(a.size());
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i : {k, (m - k) % m}) {
      a[at(2 * i)] = chirp[at(2 * k)];
      a[at(2 * i + 1)] = -chirp[at(2 * k + 1)];
    }
  }
  fft(a, b, fft_twiddles(m, false));
  for (int64_t k = 0; k < 2 * m; ++k) parts[at(k % 2 * m + k / 2)] = a[at(k)] / static_cast<double>(m);
  return parts;
}

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

namespace {

std::string number_table(EmitContext& context, ElementType elem, const std::vector<double>& numbers) {
  return context.table(Tensor::of(elem, {static_cast<int64_t>(numbers.size())}, numbers));
}

// NAME: room for so many numbers.
void declare_room(EmitContext& context, ElementType elem, std::string_view name, int64_t count) {
  const std::string room = context.scratch(std::max<int64_t>(1, count) * byte_size(elem));
  context.line(fmt::format("{0}* {1} = ({0}*){2};", c_type(elem), name, room));
}

// NAME[2 k], NAME[2 k + 1]: the number on the unit circle at `angle`, an expression of k, or its conjugate.
void emit_circle(EmitContext& context, ElementType elem, std::string_view name, std::string_view count,
                 std::string_view angle, bool conjugate) {
  context.open(fmt::format("for (ptrdiff_t k = 0; k < {}; ++k)", count));
  context.line(fmt::format("const double angle = {};", angle));
  context.line(fmt::format("{}[2 * k] = ({})cos(angle);", name, c_type(elem)));
  context.line(fmt::format("{}[2 * k + 1] = ({})({}sin(angle));", name, c_type(elem), conjugate ? "" : "-"));
  context.close();
}

std::string turn_text(std::string_view k, std::string_view n) {
  return fmt::format("{} * (double){} / (double){}", c_literal(kTurn, ElementType::F64), k, n);
}

std::string form_of(std::string_view piece, ElementType elem) {
  return fmt::format("{}{}", piece, elem == ElementType::F64 ? "_double" : "");
}

void emit_chirp_start(EmitContext& context, const FftCode& code) {
  const int64_t n = code.known, m = chirp_length(n);
  context.line(fmt::format("const ptrdiff_t m = {};", m));
  declare_room(context, code.elem, "a", 2 * n);
  declare_room(context, code.elem, "b", 4 * m);
  if (m <= kMostInTable) {
    const std::vector<double> chirp = chirp_of(n, code.inverse);
    for (const auto& [name, numbers] : {std::pair("w", fft_twiddles(m, false)), std::pair("chirp", chirp),
                                        std::pair("spectrum", chirp_spectrum(chirp, m))})
      context.line(fmt::format("const {}* {} = {};", c_type(code.elem), name,
                               number_table(context, code.elem, numbers)));
    return;
  }
  declare_room(context, code.elem, "w", 2 * m);
  declare_room(context, code.elem, "chirp", 2 * n);
  declare_room(context, code.elem, "spectrum", 2 * m);
  emit_circle(context, code.elem, "w", "m", turn_text("k", "m"), false);
  emit_circle(context, code.elem, "chirp", "n",
              turn_text("((uint64_t)k * (uint64_t)k % (uint64_t)(2 * n))", "(2 * n)"), code.inverse);
  context.line(
      fmt::format("{}(n, m, w, chirp, spectrum, b);", context.helper(form_of("chirp_spectrum", code.elem))));
}

}  // namespace

void emit_fft_start(EmitContext& context, const FftCode& code) {
  if (uses_chirp(context, code)) {
    emit_chirp_start(context, code);
    return;
  }
  for (std::string_view name : {"a", "b"}) declare_room(context, code.elem, name, 2 * code.most);
  if (code.known >= 0 && code.known <= kMostInTable) {
    const std::string table = number_table(context, code.elem, fft_twiddles(code.known, code.inverse));
    context.line(fmt::format("const {}* w = {};", c_type(code.elem), table));
    return;
  }
  declare_room(context, code.elem, "w", 2 * code.most);
  emit_circle(context, code.elem, "w", "n", turn_text("k", "n"), code.inverse);
}

void emit_fft(EmitContext& context, const FftCode& code) {
  std::string_view type = c_type(code.elem);
  if (uses_chirp(context, code)) {
    context.line(fmt::format("{}(n, m, w, chirp, spectrum, a, b);",
                             context.helper(form_of("chirp_transform", code.elem))));
    return;
  }
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
