// Errors of elements: relative for floats, counted for integers, exact for bools and texts; the worst shown.
// Units in the last place beside that.
#include "mrvlc/driver/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
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

// Where a float's bits are among all of its type, in order; both zeros are one.
int64_t rank_of(const Tensor& tensor, int64_t i) {
  const auto at = static_cast<size_t>(i);
  const auto ranked = [](uint64_t bits, unsigned width) {
    const uint64_t sign = uint64_t{1} << (width - 1);
    const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  if (tensor.elem() == ElementType::F64) return ranked(tensor.data<uint64_t>()[at], 64);
  if (tensor.elem() == ElementType::F32) return ranked(tensor.data<uint32_t>()[at], 32);
  return ranked(tensor.data<uint16_t>()[at], 16);
}

bool has_ulps(ElementType elem) {
  return elem == ElementType::F32 || elem == ElementType::F64 || elem == ElementType::F16 ||
         elem == ElementType::BF16;
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
  return {kInfinity, 0, 0, kInfinity, std::move(text)};
}

// By how much it is beyond the limit. A limit that is no number lets nothing through.
double excess(double error, double limit) {
  return std::isnan(limit) ? error : error - limit;
}

// The element that differs most, of those beyond their limit if there are any.
struct Worst {
  int64_t at = 0;
  double error = 0, limit = 0, excess = -kInfinity;
};

Difference compare_elements(const Tensor& actual, const Tensor& expected, double limit,
                            const Allowance& allowed) {
  Difference out{0, limit, 0, has_ulps(expected.elem()) ? 0.0 : -1.0, {}};
  Worst most{0, 0, limit}, beyond{0, 0, limit};
  const bool told = allowed.by.size() == static_cast<size_t>(expected.elements());
  const bool floats = is_float(expected.elem());
  const auto unit = [&](int64_t i) {
    const double b = floats ? std::abs(expected.as_double(i)) : 0;
    return std::isfinite(b) ? 1 + b : 1;
  };
  bool jumps = true;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double error = element_error(actual, expected, i);
    const double most_here = told ? limit + allowed.by[static_cast<size_t>(i)] / unit(i) : limit;
    if (out.ulp >= 0) out.ulp = std::max(out.ulp, ulps_between(actual, expected, i));
    if (error > most.error) most = {i, error, most_here, 0};
    if (error <= most_here) continue;
    ++out.elements;
    jumps = jumps && allowed.jumps > 0 && error <= allowed.jump / unit(i);
    const double by = excess(error, most_here);
    if (!(by <= beyond.excess)) beyond = {i, error, most_here, by};
  }
  const Worst& worst = out.elements == 0 ? most : beyond;
  out.error = worst.error;
  out.limit = worst.limit;
  if (out.elements > 0 && out.elements <= allowed.jumps && jumps) {
    out.error = beyond.error;
    out.limit = allowed.jump / unit(beyond.at);
    out.elements = 0;
  }
  if (out.elements == 0) return out;
  out.text = fmt::format("{} is {}, not {}", place(expected.shape(), worst.at), shown(actual, worst.at),
                         shown(expected, worst.at));
  if (expected.elements() > 1)
    out.text += fmt::format("; {} of {} elements differ", out.elements, expected.elements());
  return out;
}

Difference compare_items(const Tensor& actual, const Tensor& expected, const Limits& limits) {
  const auto &a = actual.items(), &b = expected.items();
  if (a.size() != b.size()) return broken(fmt::format("it holds {} values, not {}", a.size(), b.size()));
  Difference out{0, limit_of(expected.elem(), limits), 0, has_ulps(expected.elem()) ? 0.0 : -1.0, {}};
  double ulp = out.ulp;
  int64_t elements = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    Difference d = compare(a[i], b[i], limits);
    elements += d.elements;
    ulp = std::max(ulp, d.ulp);
    const bool worse = d.same() == out.same() ? d.error > out.error : !d.same();
    if (!worse) continue;
    if (!d.same()) d.text = fmt::format("item {}: {}", i, d.text);
    out = std::move(d);
  }
  out.elements = elements;
  out.ulp = ulp;
  return out;
}

}  // namespace

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

double ulps_between(const Tensor& actual, const Tensor& expected, int64_t i) {
  const double a = actual.as_double(i), b = expected.as_double(i);
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b ? 0 : kInfinity;
  // As integers: of double, ranks are beyond what a double counts in ones.
  const int64_t x = rank_of(actual, i), y = rank_of(expected, i);
  return static_cast<double>(static_cast<uint64_t>(std::max(x, y)) - static_cast<uint64_t>(std::min(x, y)));
}

Difference compare(const Tensor& actual, const Tensor& expected, const Limits& limits,
                   const Allowance& allowed) {
  const TensorType &a = actual.type(), &b = expected.type();
  const bool untold = a.elem == ElementType::Undefined || b.elem == ElementType::Undefined;
  // What a sequence or an optional says of its items is a bound, and nothing where there are none; the items
  // say what they are.
  const bool differ = b.wrapper == Wrapper::None ? !(a == b) : a.elem != b.elem && !untold;
  if (a.wrapper != b.wrapper || differ)
    return broken(fmt::format("it is {}, not {}", to_string(a), to_string(b)));
  if (b.wrapper != Wrapper::None) return compare_items(actual, expected, limits);
  return compare_elements(actual, expected, limit_of(b.elem, limits), allowed);
}

}  // namespace mrvlc::driver
