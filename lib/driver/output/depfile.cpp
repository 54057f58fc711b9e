// The dependency file of a compile, in the form that make and Ninja read.
#include <algorithm>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "read_files.h"

namespace mrvlc::driver {
namespace {

// As gcc -MD writes for GNU make: blanks and '#' take a backslash, backslashes in front of them are doubled,
// '$' is doubled; ':' takes a backslash as well, or it would end the targets. A line feed cannot be written.
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

std::string targets(const CompileOptions& options) {
  std::string text;
  for (const std::string& target : options.depfile_targets) text += (text.empty() ? "" : " ") + target;
  for (const std::string& target : options.depfile_quoted_targets)
    text += (text.empty() ? "" : " ") + escaped(target);
  return text.empty() ? escaped((options.out / "manifest.json").string()) : text;
}

}  // namespace

std::string depfile_text(const CompileOptions& options, const std::vector<ReadFile>& read) {
  std::vector<std::string> files;
  for (const ReadFile& file : read) {
    std::string name = escaped(file.path.string());
    if (std::find(files.begin(), files.end(), name) == files.end()) files.push_back(std::move(name));
  }
  std::string rule = targets(options) + ":", phony;
  for (size_t i = 0; i < files.size(); ++i) {
    rule += " " + files[i];
    if (i > 0 && options.depfile_phony) phony += files[i] + ":\n";
  }
  return rule + "\n" + phony;
}

namespace {

// What was read, and a baseline, which has no part in OUT; one that OUT replaces is no prerequisite of it.
std::vector<ReadFile> prerequisites(const CompileOptions& options, std::vector<ReadFile> read) {
  const auto& baseline = options.gates.baseline;
  std::error_code ec;
  if (!baseline.empty() && !std::filesystem::equivalent(baseline, options.out, ec))
    read.push_back({ReadFile::Kind::Placement, baseline / "report.json", "report.json", {}});
  return read;
}

}  // namespace

Status write_depfile(const CompileOptions& options, const std::vector<ReadFile>& files) {
  if (options.depfile.empty()) return {};
  const std::vector<ReadFile> read = prerequisites(options, files);
  auto broken = [](const std::string& text) { return text.find('\n') != std::string::npos; };
  bool any = broken(targets(options)) || std::any_of(read.begin(), read.end(), [&](const ReadFile& f) {
               return broken(f.path.string());
             });
  if (any)
    return make_diag<DiagCode::MRV0004>("-MD: a Makefile cannot name a file with a line feed in its name");
  return write_file_atomic(options.depfile, depfile_text(options, read));
}

}  // namespace mrvlc::driver
