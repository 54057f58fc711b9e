// Response files (@FILE), split into words and unquoted as gcc does; -MD, -MF and their kin as long options.
#include "arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace mrvlc::app {
namespace {

constexpr uint64_t kMaxBytes = 16u << 20;

// -MD and its kin are spelled as compilers do, "-MFfile" too; CLI11 has no single-dash long options.
std::string normalised(const std::string& argument) {
  for (const char* option : {"-MD", "-MP"}) {
    if (argument == option) return "-" + argument;
  }
  for (const char* option : {"-MF", "-MT", "-MQ"}) {
    if (argument == option) return "-" + argument;
    if (argument.starts_with(option)) return std::string("-") + option + "=" + argument.substr(3);
  }
  return argument;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// The word from `at` on; false: its quote is not closed.
bool read_word(const std::string& text, size_t& at, std::string& word) {
  char quote = 0;
  for (; at < text.size() && (quote != 0 || !is_space(text[at])); ++at) {
    const char c = text[at];
    if (c == '\\' && quote != '\'' && at + 1 < text.size())
      word += text[++at];
    else if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      word += c;
  }
  return quote == 0;
}

Status add_words(const std::string& file, std::vector<std::string>& words) {
  MRVLC_ASSIGN(const std::string text, read_file(file, kMaxBytes));
  for (size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      ++at;
    } else if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      std::string word;
      const auto line = 1 + std::ranges::count(std::string_view(text).substr(0, at), '\n');
      if (!read_word(text, at, word))
        return make_diag<DiagCode::MRV0003>(
            file,
            fmt::format("a quote is not closed; it begins in line {}, \\' is the character itself", line));
      words.push_back(normalised(word));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> arguments(int argc, char** argv, std::vector<std::filesystem::path>& read) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::error_code ec;
    if (word.size() > 1 && word[0] == '@' && std::filesystem::is_regular_file(word.substr(1), ec)) {
      MRVLC_TRY(add_words(word.substr(1), words));
      read.emplace_back(word.substr(1));
    } else {
      words.push_back(normalised(word));
    }
  }
  return words;
}

}  // namespace mrvlc::app
