#include "depfile.h"

#include <algorithm>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace {

// As gcc -MD writes for GNU make: blanks, '#' and ':' take a backslash, backslashes in front of them are
// doubled, '$' is doubled. A line feed cannot be written.
std::string escaped(const std::string& path) {
  std::string out;
  size_t backslashes = 0;
  for (char c : path) {
    if (c == ' ' || c == '\t' || c == '#' || c == ':') out.append(backslashes + 1, '\\');
    if (c == '$') out += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  return out;
}

}  // namespace

std::string depfile_text(const CompileOptions& options) {
  std::string rule = escaped((options.out / "manifest.json").string()) + ":";
  std::vector<std::filesystem::path> inputs = {options.model};
  inputs.insert(inputs.end(), options.rules.begin(), options.rules.end());
  for (const auto& file : inputs) {
    rule += " " + escaped(file.string());
  }
  return rule + "\n";
}

Status write_depfile(const CompileOptions& options) {
  if (options.depfile.empty()) return {};
  std::string text = depfile_text(options);
  if (std::count(text.begin(), text.end(), '\n') != 1) {
    return make_diag<DiagCode::MRV0004>("-MD: a Makefile cannot name a file with a line feed in its name");
  }
  return write_file_atomic(options.depfile, text);
}

}  // namespace mrvlc::driver
