// Errors of elements: relative for floats, counted for integers, exact for bools and texts; the worst shown.
#include "mrvlc/driver/compare.h"

#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace mrvlc::driver {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double float_error(double actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected))
    return std::isnan(actual) && std::isnan(expected) ? 0 : kInfinity;
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected ? 0 : kInfinity;
  return std::abs(actual - expected) / (1 + std::abs(expected));
}

// Exact up to 2^53, and never 0 for different numbers.
double integer_error(const Tensor& actual, const Tensor& expected, int64_t i) {
  const int64_t a = actual.as_int(i), b = expected.as_int(i);
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const bool less = expected.elem() == ElementType::U64 ? x < y : a < b;
  return static_cast<double>(less ? y - x : x - y);
}

// Any byte other than 0 and 1 is wrong, whatever is expected.
double bool_error(const Tensor& actual, const Tensor& expected, int64_t i) {
  const int64_t a = actual.as_int(i);
  if (a != 0 && a != 1) return kInfinity;
  return (a != 0) == (expected.as_int(i) != 0) ? 0 : 1;
}

double text_error(const Tensor& actual, const Tensor& expected, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return actual.string_data()[at] == expected.string_data()[at] ? 0 : kInfinity;
}

double element_error(const Tensor& actual, const Tensor& expected, int64_t i) {
  const ElementType elem = expected.elem();
  if (elem == ElementType::String) return text_error(actual, expected, i);
  if (elem == ElementType::Bool) return bool_error(actual, expected, i);
  if (is_integer(elem)) return integer_error(actual, expected, i);
  return float_error(actual.as_double(i), expected.as_double(i));
}

double limit_of(ElementType elem, const Limits& limits) {
  if (elem == ElementType::F32 || elem == ElementType::F64) return limits.wide;
  if (elem == ElementType::F16 || elem == ElementType::BF16) return limits.narrow;
  return is_integer(elem) ? limits.integers : 0;
}

std::string place(const Shape& shape, int64_t i) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d];
  return fmt::format("element [{}]", fmt::join(at, ","));
}

std::string shown(const Tensor& tensor, int64_t i) {
  const ElementType elem = tensor.elem();
  if (elem == ElementType::String) return "'" + printable(tensor.string_data()[static_cast<size_t>(i)]) + "'";
  if (elem == ElementType::U64) return std::to_string(static_cast<uint64_t>(tensor.as_int(i)));
  if (elem == ElementType::Bool || is_integer(elem)) return std::to_string(tensor.as_int(i));
  if (std::isnan(tensor.as_double(i))) return "nan";  // whatever its sign
  return elem == ElementType::F64 ? fmt::format("{}", tensor.as_double(i))
                                  : fmt::format("{}", static_cast<float>(tensor.as_double(i)));
}

Difference broken(std::string text) {
  return {kInfinity, 0, 0, std::move(text)};
}

Difference compare_elements(const Tensor& actual, const Tensor& expected, double limit) {
  Difference out{0, limit, 0, {}};
  int64_t worst = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double error = element_error(actual, expected, i);
    if (!(error <= limit)) ++out.elements;
    if (error > out.error) worst = i, out.error = error;
  }
  if (out.elements == 0) return out;
  out.text = fmt::format("{} is {}, not {}", place(expected.shape(), worst), shown(actual, worst),
                         shown(expected, worst));
  if (expected.elements() > 1)
    out.text += fmt::format("; {} of {} elements differ", out.elements, expected.elements());
  return out;
}

Difference compare_items(const Tensor& actual, const Tensor& expected, const Limits& limits) {
  const auto &a = actual.items(), &b = expected.items();
  if (a.size() != b.size()) return broken(fmt::format("it holds {} values, not {}", a.size(), b.size()));
  Difference out{0, limit_of(expected.elem(), limits), 0, {}};
  int64_t elements = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    Difference d = compare(a[i], b[i], limits);
    elements += d.elements;
    const bool worse = d.same() == out.same() ? d.error > out.error : !d.same();
    if (!worse) continue;
    if (!d.same()) d.text = fmt::format("item {}: {}", i, d.text);
    out = std::move(d);
  }
  out.elements = elements;
  return out;
}

}  // namespace

Difference compare(const Tensor& actual, const Tensor& expected, const Limits& limits) {
  const TensorType &a = actual.type(), &b = expected.type();
  const bool untold = a.elem == ElementType::Undefined || b.elem == ElementType::Undefined;
  // What a sequence or an optional says of its items is a bound, and nothing where there are none; the items
  // say what they are.
  const bool differ = b.wrapper == Wrapper::None ? !(a == b) : a.elem != b.elem && !untold;
  if (a.wrapper != b.wrapper || differ)
    return broken(fmt::format("it is {}, not {}", to_string(a), to_string(b)));
  if (b.wrapper != Wrapper::None) return compare_items(actual, expected, limits);
  return compare_elements(actual, expected, limit_of(b.elem, limits));
}

}  // namespace mrvlc::driver
