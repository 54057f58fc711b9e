// Sizes in C: numbers, or expressions of type ptrdiff_t where they are known at run time only.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace mrvlc::chost {

class Size {
 public:
  Size(int64_t number) : number_(number) {}                                   // NOLINT: implicit by design
  static Size expression(std::string text) { return Size(std::move(text)); }  // no number

  bool known() const { return number_.has_value(); }
  int64_t number() const { return *number_; }  // of known ones
  std::string text() const { return known() ? fmt::format("{}", *number_) : text_; }
  bool operator==(const Size&) const = default;  // expressions are equal as texts

 private:
  explicit Size(std::string text) : text_(std::move(text)) {}
  std::optional<int64_t> number_;
  std::string text_;
};

using Sizes = std::vector<Size>;

// "a * b", multiplied out where both are numbers.
inline Size times(const Size& a, const Size& b) {
  if (a.known() && b.known()) return a.number() * b.number();
  if (a == 1) return b;
  if (b == 1) return a;
  return Size::expression(fmt::format("{} * {}", a.text(), b.text()));
}

// Of the sizes [first, past).
inline Size size_product(const Sizes& sizes, size_t first, size_t past) {
  Size product = 1;
  for (size_t d = first; d < past; ++d) product = times(product, sizes[d]);
  return product;
}

}  // namespace mrvlc::chost

template <>
struct fmt::formatter<mrvlc::chost::Size> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const mrvlc::chost::Size& size, Context& context) const {
    return fmt::formatter<std::string>::format(size.text(), context);
  }
};
