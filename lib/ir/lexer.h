// Tokens of the textual IR. Reads any bytes; errors carry line and column.
#pragma once
#include <string>
#include <string_view>

#include "mrvlc/support/result.h"

namespace mrvlc::ir {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { skip(); }

  bool at_end() const { return at_ >= text_.size(); }
  // Consumes `token` (punctuation or a word) if it is next.
  bool accept(std::string_view token);
  Status expect(std::string_view token);
  // [A-Za-z_][A-Za-z0-9_.]*
  Result<std::string> word();
  // Letters, digits, '_' and '.', a digit first allowed: what may follow '%'.
  Result<std::string> simple_name();
  Result<int64_t> integer();
  // Decimal, inf, -inf, or nan:XXXXXXXX (bits).
  Result<float> real();
  // "..." with \" \\ and \xNN.
  Result<std::string> quoted();
  // x"00ff..." to bytes.
  Result<std::string> hex();
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  Diag error(std::string_view what) const;

 private:
  void skip();  // blanks and comments (# to the end of the line)
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace mrvlc::ir
