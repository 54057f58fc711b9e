// The dependency file of a compile, in the form that make and Ninja read.
#include <algorithm>

#include "inputs/read_files.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace {

// make takes what stands on both sides of the first '=' of a rule for a variable, whatever quotes it, unless
// a name without it comes first.
bool looks_like_variable(const std::string& name) {
  return name.find('=') != std::string::npos;
}

// As gcc -MD writes for GNU make: blanks and '#' take a backslash, backslashes in front of them are doubled,
// '$' is doubled; ':' takes a backslash as well, or it would end the targets. A line feed cannot be written.
std::string escaped(const std::string& path) {
  std::string out = path.starts_with("=") ? "./" : "";  // "a =b" is a variable as well
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

// Of the files one that make takes for nothing else; else mrvlc itself, which was read too.
std::string first_name(const std::vector<std::string>& files) {
  const auto plain = std::ranges::find_if_not(files, looks_like_variable);
  if (plain != files.end()) return *plain;
  std::error_code ec;
  return escaped(std::filesystem::read_symlink("/proc/self/exe", ec).string());
}

}  // namespace

std::string depfile_text(const CompileOptions& options, const std::vector<ReadFile>& read) {
  std::vector<std::string> files;
  for (const ReadFile& file : read) {
    std::string name = escaped(file.path.string());
    if (std::find(files.begin(), files.end(), name) == files.end()) files.push_back(std::move(name));
  }
  std::string rule = targets(options) + ":", phony;
  if (looks_like_variable(files.front())) rule += " " + first_name(files);
  for (size_t i = 0; i < files.size(); ++i) {
    rule += " " + files[i];
    if (i > 0 && options.depfile_phony && !looks_like_variable(files[i])) phony += files[i] + ":\n";
  }
  return rule + "\n" + phony;
}

namespace {

// What was read; files that options came from; and a baseline, which has no part in OUT; one that OUT
// replaces is no prerequisite of it.
std::vector<ReadFile> prerequisites(const CompileOptions& options, std::vector<ReadFile> read) {
  const auto& baseline = options.gates.baseline;
  std::error_code ec;
  if (!baseline.empty() && !std::filesystem::equivalent(baseline, options.out, ec))
    read.push_back({ReadFile::Kind::Placement, baseline / "report.json", "report.json", {}});
  for (const auto& file : options.option_files) read.push_back({ReadFile::Kind::Rules, file, {}, {}});
  return read;
}

Status refused(const std::string& name, std::string_view remedy) {
  return make_diag<DiagCode::MRV0004>(
      fmt::format("-MD: a Makefile cannot name '{}'{}", printable(name, 4096), remedy));
}

}  // namespace

Status write_depfile(const CompileOptions& options, const std::vector<ReadFile>& files) {
  if (options.depfile.empty()) return {};
  const std::vector<ReadFile> read = prerequisites(options, files);
  // What ends a rule and begins a command, or other things that no quote keeps from make.
  const auto broken = [](const std::string& text) { return text.find_first_of("\n;|") != std::string::npos; };
  const bool own_targets = !options.depfile_targets.empty() || !options.depfile_quoted_targets.empty();
  const std::string named = targets(options);
  if (broken(named) || (!own_targets && named.find_first_of("=%") != std::string::npos))
    return refused(own_targets ? named : options.out.string(),
                   own_targets ? "" : "; name the target with -MT or -MQ");
  for (const ReadFile& file : read)
    if (broken(file.path.string())) return refused(file.path.string(), "");
  return write_file_atomic(options.depfile, depfile_text(options, read));
}

}  // namespace mrvlc::driver
