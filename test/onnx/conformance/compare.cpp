#include "compare.h"

#include <fmt/format.h>

#include <cmath>

namespace mrvlc::test {
namespace {

double error_of(double actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) == std::isnan(expected) ? 0 : INFINITY;
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected ? 0 : INFINITY;
  return std::abs(actual - expected) / (1 + std::abs(expected));
}

std::string float_difference(const Tensor& actual, const Tensor& expected) {
  const bool half = expected.elem() == ElementType::F16 || expected.elem() == ElementType::BF16;
  const double tolerance = half ? 5e-3 : 1e-3;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double a = actual.as_double(i), b = expected.as_double(i), error = error_of(a, b);
    if (!(error <= tolerance)) return fmt::format("element {} is {}, not {} (error {:.2g})", i, a, b, error);
  }
  return {};
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected) {
  if (!(actual.type() == expected.type()))
    return fmt::format("it is {}, not {}", to_string(actual.type()), to_string(expected.type()));
  if (is_float(expected.elem())) return float_difference(actual, expected);
  if (expected.elem() == ElementType::String)
    return actual.string_data() == expected.string_data() ? "" : "the texts differ";
  for (int64_t i = 0; i < expected.elements(); ++i) {
    if (actual.as_int(i) != expected.as_int(i))
      return fmt::format("element {} is {}, not {}", i, actual.as_int(i), expected.as_int(i));
  }
  return {};
}

}  // namespace mrvlc::test
