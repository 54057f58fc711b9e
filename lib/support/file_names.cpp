// Characters that file systems take, long names cut with a hash, and a hash for names that would be alike.
#include "mrvlc/support/file_names.h"

#include <map>

#include "mrvlc/support/characters.h"
#include "mrvlc/support/hash.h"

namespace mrvlc {
namespace {

bool stays(char c) {
  return is_word(c) || c == '.' || c == '-';
}

}  // namespace

std::string file_name(std::string_view name) {
  std::string out;
  for (char c : name) out += stays(c) ? c : '_';
  if (out.empty()) return "_";
  if (out == "." || out == "..") return std::string(out.size(), '_');  // folders
  // 17: a dash and 16 digits of the hash.
  if (out.size() > kMaxFileStem)
    out = out.substr(0, kMaxFileStem - 17) + "-" + sha256_hex(name).substr(0, 16);
  return out;
}

std::string without_case(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool same_file(std::string_view a, std::string_view b) {
  return without_case(a) == without_case(b);
}

std::vector<std::string> file_names(std::span<const std::string> names) {
  std::map<std::string, std::string> owner;  // file name to the name that has it
  for (const std::string& name : names) {
    if (file_name(name) == name) owner.emplace(name, name);
  }
  std::vector<std::string> out;
  for (const std::string& name : names) {
    std::string file = file_name(name);
    while (owner.emplace(file, name).first->second != name) {
      file = file.substr(0, kMaxFileStem - 9) + "-" + sha256_hex(file + '\0' + name).substr(0, 8);
    }
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace mrvlc
