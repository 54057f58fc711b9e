// The dependency file: one rule that make and Ninja read; for make alone, conditions behind it.
#include "output/depfile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "inputs/read_files.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file.h"
#include "output/make_names.h"

namespace mrvlc::driver {
namespace {

namespace fs = std::filesystem;

struct Prerequisite {
  fs::path path;
  bool may_go;  // what is gone is no error of the build, but makes it due
};

// The rule of one compile.
struct Rule {
  std::vector<Prerequisite> files;
  std::vector<fs::path> absent;  // that would be read if they were there
  std::set<std::string> variables;
};

std::string targets(const CompileOptions& options) {
  std::string text;
  for (const std::string& target : options.depfile.targets) text += (text.empty() ? "" : " ") + target;
  for (const std::string& target : options.depfile.quoted_targets)
    text += (text.empty() ? "" : " ") + make_name(target, options.depfile.conditions);
  return text.empty() ? make_name((options.out / "manifest.json").string(), options.depfile.conditions)
                      : text;
}

// The folder of samples with those in it: a sample that is added or removed changes them.
void add_folders(const fs::path& folder, std::vector<Prerequisite>& files) {
  files.push_back({folder, true});
  std::error_code ec;
  std::vector<fs::path> below;
  for (fs::recursive_directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) below.push_back(at->path());
  }
  std::ranges::sort(below);
  for (fs::path& path : below) files.push_back({std::move(path), true});
}

// What the compile itself changes every time says nothing.
bool is_written(const CompileOptions& options, const fs::path& folder) {
  return std::ranges::any_of(
      std::array{options.out, options.depfile.file, options.timing}, [&](const auto& file) {
        std::error_code ec;
        const fs::path whole = fs::absolute(file.has_filename() ? file : file.parent_path(), ec);
        return !file.empty() && fs::equivalent(whole.parent_path(), folder, ec);
      });
}

// What a file that make cannot ask for changes when it appears: the nearest folder that is there.
void watch_folder(const CompileOptions& options, const fs::path& absent, std::vector<Prerequisite>& files) {
  std::error_code ec;
  fs::path folder = absent;
  do {
    folder =
        folder.has_parent_path() && folder.parent_path() != folder ? folder.parent_path() : fs::path(".");
  } while (!fs::is_directory(folder, ec) && folder != ".");
  if (!is_written(options, folder)) files.push_back({folder, true});
}

Rule rule_of(const CompileOptions& options, const Decisive& decisive) {
  Rule rule;
  for (const ReadFile& file : decisive.read) {
    if (options.from_stdin && file.kind == ReadFile::Kind::Model) continue;
    rule.files.push_back(
        {file.path, file.kind == ReadFile::Kind::Target || file.kind == ReadFile::Kind::Data});
  }
  // A baseline has no part in OUT; one that OUT replaces is no prerequisite of it.
  const auto& baseline = options.gates.baseline;
  std::error_code ec;
  if (!baseline.empty() && !fs::equivalent(baseline, options.out, ec))
    rule.files.push_back({baseline / "report.json", false});
  for (const auto& file : options.sources.files) rule.files.push_back({file, true});
  if (!options.data.empty()) add_folders(options.data, rule.files);
  const auto add_absent = [&](const fs::path& file, bool folder_tells) {
    if (options.depfile.conditions && make_can_ask_for(file.string()))
      rule.absent.push_back(file);
    else if (folder_tells)
      watch_folder(options, file, rule.files);
  };
  for (const auto& file : decisive.searched.absent) add_absent(file, true);
  for (const auto& file : options.sources.absent) add_absent(file, false);
  rule.variables.insert(options.sources.variables.begin(), options.sources.variables.end());
  rule.variables.insert(decisive.searched.variables.begin(), decisive.searched.variables.end());
  if (options.targets != std::vector<std::string>{"host"}) rule.variables.insert("MRVLC_TARGET_PATH");
  if (emits(options, "sbom")) rule.variables.insert("SOURCE_DATE_EPOCH");
  return rule;
}

// Of the files one that make takes for nothing else; else mrvlc itself, which was read too.
std::string first_name(const std::vector<std::string>& files) {
  const auto plain = std::ranges::find_if_not(files, looks_like_variable);
  if (plain != files.end()) return *plain;
  std::error_code ec;
  return make_name(fs::read_symlink("/proc/self/exe", ec).string(), false);
}

std::string rule_text(const CompileOptions& options, const Rule& rule) {
  std::vector<std::string> files;
  std::string text = targets(options) + ":", phony, names;
  for (const auto& [path, may_go] : rule.files) {
    std::string name = make_name(path.string(), options.depfile.conditions);
    if (std::ranges::find(files, name) != files.end()) continue;
    names += " " + name;
    if ((may_go || (options.depfile.phony && !files.empty())) && !looks_like_variable(name))
      phony += name + ":\n";
    files.push_back(std::move(name));
  }
  if (files.empty() || looks_like_variable(files.front())) text += " " + first_name(files);
  text += names;
  return text + "\n" + phony;
}

Status refused(const std::string& name, std::string_view remedy) {
  return make_diag<DiagCode::MRV0004>(
      fmt::format("-MD: a Makefile cannot name '{}'{}", printable(name, 4096), remedy));
}

Status check_names(const CompileOptions& options, const Rule& rule) {
  const bool own_targets = !options.depfile.targets.empty() || !options.depfile.quoted_targets.empty();
  const std::string named = targets(options);
  // Of a target make takes a tab for a blank.
  if (make_misreads(named) || (!own_targets && named.find_first_of("=%\t") != std::string::npos))
    return refused(own_targets ? named : options.out.string(),
                   own_targets ? "" : "; name the target with -MT or -MQ");
  for (const std::string& target : options.depfile.quoted_targets)
    if (target.find_first_of("%\t") != std::string::npos)
      return refused(target, "; '%' makes a pattern of a target, say it with -MT where it is meant");
  for (const Prerequisite& file : rule.files)
    if (make_misreads(file.path.string())) return refused(file.path.string(), "");
  return {};
}

// Those that begin with `prefix` and have a value: "NAME=VALUE" by blanks.
std::string values_of(const std::set<std::string>& variables, std::string_view prefix) {
  std::string out;
  for (const std::string& name : variables) {
    const char* value = name.starts_with(prefix) ? std::getenv(name.c_str()) : nullptr;
    if (value != nullptr && *value != '\0') out += (out.empty() ? "" : " ") + name + "=" + value;
  }
  return out;
}

std::string joined(const auto& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : " ") + fs::path(name).string();
  return out;
}

// For make: the files that were not there, and what the variables were. A value that make could read
// otherwise equals nothing, and OUT is built every time.
std::string conditions(const CompileOptions& options, const Rule& rule) {
  if (!options.depfile.conditions) return {};
  const std::string values = "$(foreach v," + joined(rule.variables) + ",$(if $(value $v),$v=$(value $v)))";
  return "ifneq \"$(strip $(wildcard " + joined(rule.absent) + ") " + values + ")\" \"" +
         make_text(values_of(rule.variables, "")) + "\"\n" + targets(options) +
         ": mrvlc-changed\n.PHONY: mrvlc-changed\nendif\n";
}

}  // namespace

Status write_depfile(const CompileOptions& options, const Decisive& decisive, Diagnostics& diagnostics) {
  if (options.depfile.file.empty()) return {};
  const Rule rule = rule_of(options, decisive);
  MRVLC_TRY(check_names(options, rule));
  const std::string values = options.depfile.conditions ? "" : values_of(rule.variables, "MRVLC_");
  if (!values.empty()) diagnostics.add(make_diag<DiagCode::MRV1080>(printable(values, 4096)));
  return write_file_atomic(options.depfile.file, rule_text(options, rule) + conditions(options, rule));
}

}  // namespace mrvlc::driver
