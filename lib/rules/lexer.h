// Tokens of rule files.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/rules/rule.h"

namespace mrvlc::rules {

struct Token {
  enum class Kind : uint8_t { Word, Capture, Integer, Float, String, Punctuation, Bad, End } kind = Kind::End;
  std::string text;  // String: unescaped; Capture: without the percent sign; Bad: what is wrong
  int64_t integer = 0;
  double real = 0;
  Location at;
  size_t begin = 0, end = 0;  // bytes of the file
};

// `file` is the number of the file in places. Never fails: what cannot be read becomes a Bad token. The last
// token is End.
std::vector<Token> tokenize(std::string_view text, uint32_t file = 0);

}  // namespace mrvlc::rules
