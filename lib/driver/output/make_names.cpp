// What GNU make does to names: quotes, patterns, archives.
#include "output/make_names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace mrvlc::driver {
namespace {

bool is_plain(char c, std::string_view also) {
  const auto u = static_cast<unsigned char>(c);
  return u >= 0x80 || std::isalnum(u) != 0 || also.find(c) != std::string_view::npos;
}

}  // namespace

std::string make_name(const std::string& path, bool patterns) {
  // "a =b" is a variable as well, "~b" the folder of somebody.
  std::string out = path.starts_with('=') || path.starts_with('~') ? "./" : "";
  size_t backslashes = 0;
  const std::string_view quoted = patterns ? " \t#:*?[" : " \t#:";
  for (const char c : path) {
    if (quoted.find(c) != std::string_view::npos) out.append(backslashes + 1, '\\');
    if (c == '$') out += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  return out;
}

bool make_misreads(const std::string& name) {
  return name.find_first_of("\n\r\v\f;|") != std::string::npos || name.ends_with('\\') ||
         (name.ends_with(')') && name.find('(') != std::string::npos);
}

bool looks_like_variable(const std::string& name) {
  return name.find('=') != std::string::npos;
}

bool make_can_ask_for(const std::string& name) {
  return !name.starts_with('~') &&
         std::ranges::all_of(name, [](char c) { return is_plain(c, "_-./+@,=%:"); });
}

std::string make_text(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return is_plain(c, "_-./+@,=%:^~*?[] "); });
  return plain && text.find("  ") == std::string::npos ? text : "'";
}

}  // namespace mrvlc::driver
