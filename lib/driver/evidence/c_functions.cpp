// Generated C is regular: what stands in column 0 and has a '(' before '{' or ';' is a function or a macro.
#include "evidence/c_functions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace mrvlc::driver {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The name in front of the first '(' of a line that begins a declaration.
std::string name_in(std::string_view line) {
  if (line.empty() || std::isalpha(static_cast<unsigned char>(line[0])) == 0) return "";
  if (line.starts_with("typedef") || line.starts_with("extern")) return "";
  line = line.substr(0, line.find_first_of("=\""));  // values of constants, and names of the model in them
  size_t end = line.find('(');
  // What stands before is attributes: the last '(' that a name is in front of opens the parameters.
  while (end != std::string_view::npos) {
    size_t begin = end;
    while (begin > 0 && is_word(line[begin - 1])) --begin;
    const std::string_view name = line.substr(begin, end - begin);
    if (!name.empty() && name != "__attribute__" && begin > 0) return std::string(name);
    end = line.find('(', end + 1);
  }
  return "";
}

}  // namespace

std::vector<CFunction> c_functions(std::string_view text) {
  std::vector<CFunction> out;
  std::optional<CFunction> open;  // a declaration that has not ended, or a body
  bool in_body = false;
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (in_body) {
      if (!line.starts_with('}')) continue;
      open->last_line = number;
      out.push_back(*std::exchange(open, std::nullopt));
      in_body = false;
      continue;
    }
    if (!open) {
      if (const std::string name = name_in(line); !name.empty()) open = CFunction{name, number, 0};
    }
    if (!open) continue;
    const size_t last = line.find_last_not_of(" \t");
    if (last == std::string_view::npos) continue;
    if (line[last] == '{') in_body = true;
    if (line[last] == '}' && line.find('{') != std::string_view::npos) {
      open->last_line = number;
      out.push_back(*std::exchange(open, std::nullopt));
    } else if (line[last] == ';') {
      open.reset();
    }
  }
  return out;
}

}  // namespace mrvlc::driver
