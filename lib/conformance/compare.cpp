#include "mrvlc/conformance/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mrvlc::conformance {
namespace {

double error_of(double actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) == std::isnan(expected) ? 0 : INFINITY;
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected ? 0 : INFINITY;
  return std::abs(actual - expected) / (1 + std::abs(expected));
}

std::string float_difference(const Tensor& actual, const Tensor& expected, double tolerance) {
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double a = actual.as_double(i), b = expected.as_double(i), error = error_of(a, b);
    if (!(error <= tolerance)) return fmt::format("element {} is {}, not {} (error {:.2g})", i, a, b, error);
  }
  return {};
}

std::string int_difference(const Tensor& actual, const Tensor& expected) {
  for (int64_t i = 0; i < expected.elements(); ++i) {
    if (actual.as_int(i) != expected.as_int(i))
      return fmt::format("element {} is {}, not {}", i, actual.as_int(i), expected.as_int(i));
  }
  return {};
}

std::string text_difference(const Tensor& actual, const Tensor& expected) {
  const auto &a = actual.string_data(), &b = expected.string_data();
  for (size_t i = 0; i < b.size(); ++i) {
    if (a[i] != b[i]) return fmt::format("element {} is '{}', not '{}'", i, a[i], b[i]);
  }
  return {};
}

std::string item_difference(const Tensor& actual, const Tensor& expected, double tolerance) {
  const auto &a = actual.items(), &b = expected.items();
  if (actual.type().wrapper != expected.type().wrapper)
    return fmt::format("it is {}, not {}", to_string(actual.type()), to_string(expected.type()));
  if (a.size() != b.size()) return fmt::format("it has {} items, not {}", a.size(), b.size());
  for (size_t i = 0; i < b.size(); ++i) {
    if (std::string text = difference(a[i], b[i], tolerance); !text.empty())
      return fmt::format("item {}: {}", i, text);
  }
  return {};
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected, double tolerance) {
  if (expected.type().wrapper != Wrapper::None) return item_difference(actual, expected, tolerance);
  if (!(actual.type() == expected.type()))
    return fmt::format("it is {}, not {}", to_string(actual.type()), to_string(expected.type()));
  switch (expected.elem()) {
    case ElementType::F32:
    case ElementType::F64:
      return float_difference(actual, expected, std::max(tolerance, 1e-3));
    case ElementType::F16:
    case ElementType::BF16:
      return float_difference(actual, expected, std::max(tolerance, 5e-3));
    case ElementType::String:
      return text_difference(actual, expected);
    case ElementType::F8E4M3FN:
    case ElementType::F8E4M3FNUZ:
    case ElementType::F8E5M2:
    case ElementType::F8E5M2FNUZ:
    case ElementType::F4E2M1:
    case ElementType::F8E8M0:
      return float_difference(actual, expected, 0);
    default:
      return int_difference(actual, expected);
  }
}

}  // namespace mrvlc::conformance
