// Names of the C program: identifiers that are free, and texts as arrays of characters.
#include "names.h"

#include <fmt/format.h>

#include "mrvlc/support/c_words.h"
#include "mrvlc/support/characters.h"

namespace mrvlc::chost {

bool is_c_identifier(std::string_view text) {
  if (text.empty() || is_digit(text.front())) return false;
  for (char c : text) {
    if (!is_letter(c) && !is_digit(c) && c != '_') return false;
  }
  return true;
}

std::string to_identifier(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 48)) out += is_letter(c) || is_digit(c) ? c : '_';
  // A leading underscore may be reserved to the implementation, a leading digit is no identifier.
  if (out.empty() || !is_letter(out.front())) out.insert(0, "v");
  return out;
}

std::string UniqueNames::make(std::string_view text) {
  std::string base = to_identifier(text), name = base;
  if (is_taken_word(name)) name = base += "_";
  if (used_.insert(name).second) return name;
  int& next = next_.try_emplace(base, 2).first->second;
  do {
    name = fmt::format("{}_{}", base, next++);
  } while (!used_.insert(name).second);
  return name;
}

namespace {

// As it stands in a literal.
std::string character(char c) {
  auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\' || c == '?') return fmt::format("\\{:03o}", byte);
  return {c};
}

// In what becomes text by with_prefix() a K_ of the model must not become the prefix.
bool ends_in_a_k(std::string_view literal) {
  if (literal.back() != 'K') return false;
  const char before = literal[literal.size() - 2];  // at least the quote
  return !is_letter(before) && !is_digit(before) && before != '_';
}

constexpr std::string_view kNull = "\342\220\200";  // U+2400, symbol for null

std::string without_null(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == 0) {
      out += kNull;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (char c : without_null(text)) out += c == '_' && ends_in_a_k(out) ? "\\137" : character(c);
  return out + "\"";
}

bool is_long_literal(std::string_view text) {
  constexpr size_t kMaxLiteral = 4095;
  return without_null(text).size() > kMaxLiteral;
}

std::string c_char_array(std::string_view text) {
  if (!is_long_literal(text)) return c_string(text);
  std::string out = "{";
  size_t n = 0;
  for (char c : without_null(text))
    out += fmt::format("{}'{}',", n++ % 20 == 0 ? "\n    " : " ", c == '\'' ? "\\'" : character(c));
  return out + " 0}";
}

std::string comment_text(std::string_view text) {
  constexpr size_t kMost = 200;
  std::string out = text.size() > kMost ? "..." : "";
  for (const char c : text.size() > kMost ? text.substr(text.size() - kMost) : text) {
    const char last = out.empty() ? ' ' : out.back();
    if ((last == '*' && c == '/') || (last == '/' && c == '*') || (last == '?' && c == '?')) out += ' ';
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace mrvlc::chost
