// The text of a pattern, read from front to back: what its tokens are.
#pragma once
#include <optional>

#include "strings/regex_syntax.h"

namespace mrvlc::ops::regex {

// "the pattern has WHAT, which generated code does not support"
Diag unsupported(std::string_view what);

class PatternReader {
 public:
  // `text` is valid UTF-8.
  explicit PatternReader(std::string_view text) : text_(text) {}

  bool done() const { return at_ == text_.size(); }
  bool has(size_t bytes) const { return text_.size() - at_ >= bytes; }
  // The byte `ahead` of the next; '\0' behind the end.
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool next_is_one_of(std::string_view bytes) const {
    return !done() && bytes.find(text_[at_]) != std::string_view::npos;
  }
  void skip(size_t bytes) { at_ += bytes; }
  bool take(std::string_view token);
  // Moves behind the next `byte`; false where there is none.
  bool skip_past(char byte);

  uint32_t code_point();
  // The code point that an escape stands for, behind its backslash.
  Result<uint32_t> escaped_code();
  // "{2}", "{2,}", "{2,5}" as least and most; anything else in braces stands for itself.
  std::optional<std::pair<uint32_t, uint32_t>> counts();

 private:
  std::optional<uint32_t> number();
  Result<uint32_t> hexadecimal();
  uint32_t octal();
  std::string_view text_;
  size_t at_ = 0;
};

// \d \s \w, and whether it is their opposite; nothing for other letters.
std::optional<std::pair<Class, bool>> perl_class(char letter);
// The characters of a bracket expression, behind "[", to its end; `fold`: under (?i). And whether it is
// negated.
Result<std::pair<Class, bool>> bracket_class(PatternReader& in, bool fold);

}  // namespace mrvlc::ops::regex
