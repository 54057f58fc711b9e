// Names, numbers (NaN by its bits), quoted strings and hexadecimal bytes of the textual IR.
#include "lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/ir.h"

namespace mrvlc::ir {
namespace {

bool is_word_char(char c) {
  return is_word(c) || c == '.';
}
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

void Lexer::skip() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

Diag Lexer::error(std::string_view what) const {
  size_t at = std::min(at_, text_.size());
  auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  size_t start = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  size_t column = start == std::string_view::npos ? at + 1 : at - start;
  return make_diag<DiagCode::MRV0802>(line, column, what);
}

bool Lexer::accept(std::string_view token) {
  if (text_.substr(at_, token.size()) != token) return false;
  size_t end = at_ + token.size();
  if (is_word_char(token.back()) && end < text_.size() && is_word_char(text_[end])) return false;
  at_ = end;
  skip();
  return true;
}

Status Lexer::expect(std::string_view token) {
  if (accept(token)) return {};
  return error("expected '" + std::string(token) + "'");
}

Result<std::string> Lexer::word() {
  if (at_end() || !is_word_char(text_[at_]) || is_digit(text_[at_])) return error("expected a name");
  return simple_name();
}

Result<std::string> Lexer::simple_name() {
  size_t end = at_;
  while (end < text_.size() && is_word_char(text_[end])) ++end;
  if (end == at_) return error("expected a name");
  std::string out(text_.substr(at_, end - at_));
  at_ = end;
  skip();
  return out;
}

Result<int64_t> Lexer::integer() {
  int64_t value = 0;
  auto [end, ec] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (ec != std::errc()) return error("expected an integer");
  at_ = static_cast<size_t>(end - text_.data());
  skip();
  return value;
}

Result<float> Lexer::real() {
  float value = 0;
  const char* end = nullptr;
  std::errc ec{};
  if (text_.substr(at_, 4) == "nan:") {
    uint32_t bits = 0;
    auto r = std::from_chars(text_.data() + at_ + 4, text_.data() + text_.size(), bits, 16);
    end = r.ptr, ec = r.ec;
    value = std::bit_cast<float>(bits);
    // An attribute written as nan must be one: other bits have a decimal form.
    if (ec == std::errc() && value == value) return error("these bits are not a NaN");
  } else {
    auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    end = r.ptr, ec = r.ec;
  }
  if (ec != std::errc()) return error("expected a number");
  at_ = static_cast<size_t>(end - text_.data());
  skip();
  return value;
}

Result<std::string> Lexer::quoted() {
  if (!next_is('"')) return error("expected a quoted string");
  std::string out;
  size_t i = at_ + 1;
  for (; i < text_.size() && text_[i] != '"' && text_[i] != '\n'; ++i) {
    if (text_[i] != '\\') {
      out += text_[i];
      continue;
    }
    char next = i + 1 < text_.size() ? text_[i + 1] : '\0';
    if (next == '"' || next == '\\') {
      out += next;
      ++i;
    } else if (next == 'x' && i + 3 < text_.size() && hex_digit(text_[i + 2]) >= 0 &&
               hex_digit(text_[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(text_[i + 2]) * 16 + hex_digit(text_[i + 3]));
      i += 3;
    } else {
      return error("unknown escape in a string");
    }
  }
  if (i >= text_.size() || text_[i] != '"') return error("string without an end");
  at_ = i + 1;
  skip();
  return out;
}

Result<std::string> Lexer::hex() {
  if (text_.substr(at_, 2) != "x\"") return error("expected x\"...\"");
  size_t end = text_.find('"', at_ + 2);
  if (end == std::string_view::npos) return error("bytes without an end");
  std::string_view digits = text_.substr(at_ + 2, end - at_ - 2);
  if (digits.size() % 2 != 0) return error("odd number of hexadecimal digits");
  std::string out(digits.size() / 2, '\0');
  for (size_t i = 0; i < out.size(); ++i) {
    int hi = hex_digit(digits[2 * i]), lo = hex_digit(digits[2 * i + 1]);
    if (hi < 0 || lo < 0) return error("not a hexadecimal digit");
    out[i] = static_cast<char>(hi * 16 + lo);
  }
  at_ = end + 1;
  skip();
  return out;
}

}  // namespace mrvlc::ir
