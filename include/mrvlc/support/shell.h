// Text for a POSIX shell.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc {

// In single quotes: one word, as it is.
std::string shell_quoted(std::string_view text);
// A command of these words.
std::string shell_words(const std::vector<std::string>& argv);

}  // namespace mrvlc
