// Generated C read token by token, as far as names, literals and comments are concerned.
#include "naming/public_names.h"

#include <algorithm>

#include "mrvlc/support/characters.h"

namespace mrvlc::chost {
namespace {

// Where the token that begins at `at` ends: a comment, a literal, an #include line, a word, or one character.
size_t end_of_token(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("/*")) {
    const size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (rest.starts_with("#include")) return std::min(text.find('\n', at), text.size());
  if (rest[0] == '"' || rest[0] == '\'') {
    size_t end = at + 1;
    while (end < text.size() && text[end] != rest[0]) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::max(end, at + 1);
}

std::string_view without_prefix(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || !word.substr(prefix.size()).starts_with('_')) return {};
  return word.substr(prefix.size() + 1);
}

}  // namespace

// Members of structs are no names of their own: an input of the model may be called NAME_n.
PublicNames::PublicNames(std::string_view prefix, std::string_view header) : prefix_(prefix) {
  bool in_type = false;
  int depth = 0;
  for (size_t at = 0; at < header.size();) {
    const size_t end = end_of_token(header, at);
    const std::string_view token = header.substr(at, end - at), name = without_prefix(token, prefix_);
    at = end;
    if (token == "typedef") in_type = true;
    if (token == "{" && in_type) ++depth;
    if (token == "}" && in_type) --depth;
    if (token == ";" && depth == 0) in_type = false;
    if (!name.empty() && depth == 0) names_.emplace(name);
  }
}

std::string PublicNames::published(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of_token(text, at);
    const std::string_view token = text.substr(at, end - at), name = without_prefix(token, kLocalName);
    const bool is_symbol = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
    if (is_symbol || names_.contains(name)) {
      out += prefix_;
      out += token.substr(kLocalName.size());
    } else {
      out += token;
    }
    at = end;
  }
  return out;
}

}  // namespace mrvlc::chost
