// Tokens of patterns.
#include "strings/regex_pattern.h"

#include <algorithm>
#include <cctype>

#include "common/infer_util.h"

namespace mrvlc::ops::regex {

Diag unsupported(std::string_view what) {
  return bad_attr("pattern", fmt::format("has {}, which generated code does not support", what));
}

bool PatternReader::take(std::string_view token) {
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

bool PatternReader::skip_past(char byte) {
  const size_t end = text_.find(byte, at_);
  if (end == std::string_view::npos) return false;
  at_ = end + 1;
  return true;
}

uint32_t PatternReader::code_point() {
  auto byte = [&](size_t ahead) { return static_cast<unsigned char>(peek(ahead)); };
  const uint32_t first = byte(0);
  const size_t more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  uint32_t value = more == 0 ? first : first & (0x3fu >> more);
  for (size_t i = 1; i <= more; ++i) value = value << 6 | (byte(i) & 0x3fu);
  at_ = std::min(at_ + more + 1, text_.size());
  return value;
}

std::optional<uint32_t> PatternReader::number() {
  uint32_t v = 0;
  const size_t from = at_;
  while (!done() && text_[at_] >= '0' && text_[at_] <= '9' && v < 100000)
    v = v * 10 + static_cast<uint32_t>(text_[at_++] - '0');
  return at_ == from ? std::nullopt : std::optional(v);
}

std::optional<std::pair<uint32_t, uint32_t>> PatternReader::counts() {
  const size_t start = at_;
  if (take("{")) {
    if (auto least = number()) {
      if (take("}")) return std::pair(*least, *least);
      if (take(",")) {
        if (take("}")) return std::pair(*least, Tree::kEndless);
        auto most = number();
        if (most && take("}")) return std::pair(*least, *most);
      }
    }
  }
  at_ = start;
  return std::nullopt;
}

Result<uint32_t> PatternReader::escaped_code() {
  if (done()) return unsupported("a backslash at its end");
  constexpr std::string_view kNames = "afnrtv", kCodes = "\a\f\n\r\t\v";
  const char c = text_[at_];
  if (size_t i = kNames.find(c); i != std::string_view::npos) {
    ++at_;
    return static_cast<uint32_t>(kCodes[i]);
  }
  if (c == 'x') return hexadecimal();
  if (c >= '0' && c <= '7') return octal();
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '8' && c <= '9');
  if (letter) return unsupported(fmt::format("\\{}", c));
  return code_point();
}

Result<uint32_t> PatternReader::hexadecimal() {
  ++at_;
  const bool braces = take("{");
  uint32_t value = 0;
  for (int digits = 0; !done() && digits < (braces ? 8 : 2); ++digits) {
    size_t digit = std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(text_[at_])));
    if (digit == std::string_view::npos) break;
    value = value * 16 + static_cast<uint32_t>(digit);
    ++at_;
  }
  if ((braces && !take("}")) || value > 0x10ffff) return unsupported("an odd \\x");
  return value;
}

uint32_t PatternReader::octal() {
  uint32_t value = 0;
  for (int digits = 0; !done() && digits < 3 && text_[at_] >= '0' && text_[at_] <= '7'; ++digits)
    value = value * 8 + static_cast<uint32_t>(text_[at_++] - '0');
  return value;
}

}  // namespace mrvlc::ops::regex
