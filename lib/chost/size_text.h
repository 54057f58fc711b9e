// Sizes as C text: numbers, or expressions of type ptrdiff_t where they are known at run time only.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

namespace mrvlc::chost {

using Sizes = std::vector<std::string>;

inline bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// "a * b", multiplied out where both are numbers.
inline std::string times(const std::string& a, const std::string& b) {
  if (is_number(a) && is_number(b)) return fmt::format("{}", std::stoll(a) * std::stoll(b));
  if (a == "1") return b;
  if (b == "1") return a;
  return fmt::format("{} * {}", a, b);
}

// Of the sizes [first, past).
inline std::string size_product(const Sizes& sizes, size_t first, size_t past) {
  std::string product = "1";
  for (size_t d = first; d < past; ++d) product = times(product, sizes[d]);
  return product;
}

}  // namespace mrvlc::chost
