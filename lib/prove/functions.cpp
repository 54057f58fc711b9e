// Lines through a function's values at the ends of 2048 segments, in double.
#include "functions.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "mrvlc/tensor/float16.h"

namespace mrvlc::prove {
namespace {

using F = std::function<double(double)>;

float narrow(double v) {
  constexpr double kBeyond = 0x1.ffffffp127;
  if (std::isnan(v)) return std::numeric_limits<float>::quiet_NaN();
  if (std::fabs(v) >= kBeyond) return v < 0 ? -kInfinity : kInfinity;
  return static_cast<float>(v);
}

double at_half(uint32_t bits) {
  return static_cast<double>(half_to_float(static_cast<uint16_t>(bits)));
}

// c0 and c1 of segment i.
std::pair<float, float> line(uint32_t i, const F& f, bool steps) {
  const uint32_t bits = 32 * i, magnitude = bits & 0x7fffu;
  const bool negative = (bits & 0x8000u) != 0;
  if (magnitude > 0x7c00u) return {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  if (magnitude == 0x7c00u) {
    const double y =
        f(negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
    return {narrow(std::isnan(y) ? f(negative ? -65504.0 : 65504.0) : y), 0.0f};
  }
  const double a = at_half(bits), fa = f(a);
  if (steps) return {narrow(fa), 0.0f};
  const double b = magnitude + 32 == 0x7c00u ? (negative ? -65504.0 : 65504.0) : at_half(bits + 32);
  const double c1 = (f(b) - fa) / (b - a);
  double c0 = fa - c1 * a;
  const double e = f(0.5 * (a + b)) - (c0 + c1 * (0.5 * (a + b)));
  if (std::isfinite(e) && a != 0 && fa != 0) c0 += 0.5 * e;
  if (!std::isfinite(narrow(c0)) || !std::isfinite(narrow(c1))) return {narrow(fa), 0.0f};
  return {narrow(c0), narrow(c1)};
}

std::vector<float> lines(const F& f, bool steps) {
  std::vector<float> out;
  for (uint32_t i = 0; i < 2048; ++i) {
    const auto [c0, c1] = line(i, f, steps);
    out.push_back(c0);
    out.push_back(c1);
  }
  return out;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// 1 + erf(v) = erfc(-v): below zero the sum would leave no digits.
double gelu(double x) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  return 0.5 * x * std::erfc(-x * kSqrtHalf);
}
double gelu_tanh(double x) {
  constexpr double kSqrt2OverPi = 0.79788456080286535588;
  return x / (1 + std::exp(-2 * kSqrt2OverPi * (x + 0.044715 * x * x * x)));
}

}  // namespace

std::vector<float> table_of(const F& f) {
  return lines(f, false);
}
std::vector<float> steps_of(const F& f) {
  return lines(f, true);
}

std::optional<Function> table_function(const Node& n) {
  if (!n.domain.empty()) return std::nullopt;
  const auto with = [&](const char* attribute, float otherwise) {
    return static_cast<double>(n.real(attribute, otherwise));
  };
  const auto plain = [&](double (*f)(double)) { return Function{n.op, f}; };
  if (n.op == "Sigmoid") return plain(sigmoid);
  if (n.op == "Tanh") return Function{n.op, [](double x) { return std::tanh(x); }};
  if (n.op == "Erf") return Function{n.op, [](double x) { return std::erf(x); }};
  if (n.op == "Asinh") return Function{n.op, [](double x) { return std::asinh(x); }};
  if (n.op == "Atan") return Function{n.op, [](double x) { return std::atan(x); }};
  if (n.op == "Softplus") return plain(softplus);
  if (n.op == "Softsign") return Function{n.op, [](double x) { return x / (1 + std::fabs(x)); }};
  if (n.op == "Mish") return Function{n.op, [](double x) { return x * std::tanh(softplus(x)); }};
  if (n.op == "Gelu" && n.text("approximate", "none") == "none") return plain(gelu);
  if (n.op == "Gelu") return Function{"Gelu tanh", gelu_tanh};
  if (n.op == "Elu" || n.op == "Celu" || n.op == "Swish") {
    const double a = with("alpha", 1);
    const std::string name = fmt::format("{}({})", n.op, a);
    if (n.op == "Elu") return Function{name, [a](double x) { return x < 0 ? a * std::expm1(x) : x; }};
    if (n.op == "Celu") return Function{name, [a](double x) { return x < 0 ? a * std::expm1(x / a) : x; }};
    return Function{name, [a](double x) { return x * sigmoid(a * x); }};
  }
  if (n.op == "Selu") {
    const double a = with("alpha", 1.67326319217681884765625f), g = with("gamma", 1.05070102214813232421875f);
    return Function{fmt::format("Selu({},{})", a, g),
                    [a, g](double x) { return g * (x < 0 ? a * std::expm1(x) : x); }};
  }
  return std::nullopt;
}

}  // namespace mrvlc::prove
