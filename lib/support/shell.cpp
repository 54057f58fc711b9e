// Single quotes around words, and '\'' for those in them.
#include "mrvlc/support/shell.h"

namespace mrvlc {

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string shell_words(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& word : argv) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

}  // namespace mrvlc
