// Names that came from a model, made safe for C.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace mrvlc::chost {

bool is_c_identifier(std::string_view text);
// Letters, digits and underscores of `text`, everything else an underscore; never empty, never starts with a
// digit.
std::string to_identifier(std::string_view text);
// Distinct identifiers for distinct names: a suffix is added on collision, and an
// underscore to keywords and to what headers may define as macros (support/c_words.h).
class UniqueNames {
 public:
  std::string make(std::string_view text);

 private:
  std::set<std::string, std::less<>> used_;
  std::map<std::string, int> next_;  // suffix to try, by the name without one: many names may begin alike
};

// A C string literal, quotes included, whose bytes are those of `text` except that NUL becomes U+2400 (a C
// string would end there). Only printable ASCII stands raw; '?' is escaped so that no trigraph can form, and
// the line never breaks.
std::string c_string(std::string_view text);
// The initializer of a `const char[]` with the same bytes and a NUL: a literal, or a list of characters when
// it is longer than the 4095 characters that every C99 compiler takes.
std::string c_char_array(std::string_view text);
bool is_long_literal(std::string_view text);

// Text inside of a comment of one line: printable ASCII that neither ends nor opens a comment, nor forms a
// trigraph; at most 200 characters, of more the last.
std::string comment_text(std::string_view text);

}  // namespace mrvlc::chost
