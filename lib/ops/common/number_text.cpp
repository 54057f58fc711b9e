// The fewest digits that read back, exponents where NumPy has them; texts parsed, true and false too.
#include "common/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "mrvlc/tensor/float16.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::ops {
namespace {

// "d.ddde+XX", the fewest digits for the element's type.
std::string shortest(double v, ElementType elem) {
  char text[64];
  if (elem == ElementType::F16) {
    for (int precision = 0; precision < 8; ++precision) {
      auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, precision).ptr;
      double back = 0;
      std::from_chars(text, end, back);
      if (double_to_half(back) == double_to_half(v)) return {text, end};
    }
  }
  auto end =
      elem == ElementType::F64
          ? std::to_chars(text, text + sizeof text, v, std::chars_format::scientific).ptr
          : std::to_chars(text, text + sizeof text, static_cast<float>(v), std::chars_format::scientific).ptr;
  return {text, end};
}

// NumPy writes exponents only below 1e-4 and from 1e16 on.
std::string float_text(double v, ElementType elem) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  std::string text = shortest(std::fabs(v), elem);
  const size_t e = text.find('e');
  int exponent = 0;
  const char* digits_of_exponent = text.c_str() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, text.c_str() + text.size(), exponent);
  const std::string sign = std::signbit(v) ? "-" : "";
  if (v != 0 && (exponent < -4 || exponent >= 16)) return sign + text;
  std::string digits = text.substr(0, e);
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string_view trimmed(std::string_view text) {
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

}  // namespace

std::string number_text(const Tensor& tensor, int64_t i) {
  const ElementType elem = tensor.elem();
  if (elem == ElementType::Bool) return tensor.as_int(i) != 0 ? "True" : "False";
  if (is_float(elem) || is_narrow_float(elem)) return float_text(tensor.as_double(i), elem);
  if (elem == ElementType::U64) return fmt::format("{}", tensor.data<uint64_t>()[static_cast<size_t>(i)]);
  return fmt::format("{}", tensor.as_int(i));
}

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "true") return 1;
  if (lower == "false") return 0;
  double v = 0;
  auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), v);
  if (end != lower.data() + lower.size() || lower.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // from_chars leaves the value alone; the sign of the exponent tells overflow from underflow.
    const bool tiny =
        lower.find("e-") != std::string::npos || lower.find_first_of("123456789") > lower.find('.');
    return std::copysign(tiny ? 0.0 : HUGE_VAL, lower[0] == '-' ? -1.0 : 1.0);
  }
  if (error != std::errc()) return std::nullopt;
  return v;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  text = trimmed(text);
  int64_t v = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc() && end == text.data() + text.size()) return v;
  uint64_t u = 0;
  auto [u_end, u_error] = std::from_chars(text.data(), text.data() + text.size(), u);
  if (u_error == std::errc() && u_end == text.data() + text.size()) return static_cast<int64_t>(u);
  return std::nullopt;
}

}  // namespace mrvlc::ops
