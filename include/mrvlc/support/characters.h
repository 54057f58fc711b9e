// Kinds of ASCII characters; <cctype> asks the locale.
#pragma once

namespace mrvlc {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// Of an identifier: a letter, a digit or an underscore.
constexpr bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

}  // namespace mrvlc
