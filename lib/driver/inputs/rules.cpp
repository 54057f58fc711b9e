// `mrvlc rules list|show|check|format`: rules as such, without a model.
#include "mrvlc/partition/rules.h"

#include <set>

#include "inputs/libraries.h"
#include "inputs/rule_files.h"
#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/rules/format.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/rules.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/target/find.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {

namespace {

// Each file once, those that are included in front of those that are not read yet.
class RuleFiles {
 public:
  explicit RuleFiles(const NoteFile& note) : note_(note) {}

  Status read(const std::filesystem::path& file) {
    const std::string name = rules::included_name("", file.string());
    if (included_.contains(name)) return {};
    named_.insert(name);
    return add(file);
  }

  std::vector<rules::RuleFile> out;

 private:
  Status add(const std::filesystem::path& file) {
    MRVLC_ASSIGN(std::string text, read_file(file, kMaxRuleFile));
    if (note_) note_(file, text);
    const std::string shown = file.string();
    const std::vector<std::string> includes = rules::includes_of(text);
    out.push_back({shown, std::move(text)});
    for (const std::string& include : includes) {
      const std::string name = rules::included_name(shown, include);
      if (included_.size() == kMaxIncludedFiles) break;
      if (!named_.contains(name) && included_.insert(name).second) (void)add(name);
    }
    return {};
  }

  const NoteFile& note_;
  std::set<std::string> named_, included_;
};

}  // namespace

Result<std::vector<rules::RuleFile>> read_rule_files(const std::vector<std::filesystem::path>& files,
                                                     const NoteFile& note) {
  RuleFiles all(note);
  for (const auto& file : files) MRVLC_TRY(all.read(file));
  return std::move(all.out);
}

Result<backends::Opened> backend_of(const CompileOptions& options) {
  const std::string& name = options.targets.front();
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, options.target_dirs));
  if (target::is_library(text.json))
    return make_diag<DiagCode::MRV0004>(
        fmt::format("--target: '{}' is a library, this command takes an accelerator", printable(name)));
  return backends::open(name, text, {});
}

// The rules of the first target, when that is a library.
Result<std::optional<Libraries>> library_of(const CompileOptions& options) {
  const std::string& name = options.targets.front();
  if (name == "host") return std::optional<Libraries>();
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, options.target_dirs));
  if (!target::is_library(text.json)) return std::optional<Libraries>();
  Diagnostics said_by_check;
  Libraries out;
  MRVLC_TRY(add_library(name, text, "", out, said_by_check));
  return std::optional(std::move(out));
}

partition::BuiltIn builtin_rules(const CompileOptions& options, const partition::Accelerator& accelerator) {
  return options.default_rules ? partition::BuiltIn(accelerator.rule_file()) : std::nullopt;
}

namespace {

// For the host alone, the default one: a mistake in a file is one there as well.
Result<backends::Opened> backend_or_default(const CompileOptions& options) {
  if (options.targets.front() != "host") return backend_of(options);
  return backends::open_default({});
}

// Those of the target, unless --no-default-rules, and of the options' files.
Result<partition::SoundRules> sound_rules(const CompileOptions& options) {
  MRVLC_ASSIGN(std::vector<rules::RuleFile> files, read_rule_files(options.rules));
  MRVLC_ASSIGN(const std::optional<Libraries> library, library_of(options));
  if (library) {
    if (options.default_rules)
      files.insert(files.begin(), library->rule_files.begin(), library->rule_files.end());
    return partition::sound(partition::load_library_rules(files));
  }
  MRVLC_ASSIGN(const backends::Opened backend, backend_or_default(options));
  return partition::sound_rules(builtin_rules(options, *backend), files, backend->layer_words());
}

}  // namespace

Result<std::string> rules_list(const CompileOptions& options) {
  MRVLC_ASSIGN(const partition::SoundRules sound, sound_rules(options));
  std::string out = fmt::format("{:<18} {:<16} {:>8}  {}\n", "rule", "layer", "priority", "why");
  if (options.targets.front() == "host") return out;  // no rule has a say there
  for (const rules::Rule& r : sound->set.rules()) {
    out += fmt::format("{:<18} {:<16} {:>8}  {}\n", r.name, r.layer, r.priority, printable(r.why, 1000));
  }
  return out;
}

Result<std::string> rules_show(const CompileOptions& options, const std::string& name) {
  MRVLC_ASSIGN(const partition::SoundRules sound, sound_rules(options));
  const rules::Rule* rule = sound->set.find(name);
  if (rule == nullptr) {
    std::vector<std::string_view> names;
    for (const rules::Rule& r : sound->set.rules()) names.push_back(r.name);
    return make_diag<DiagCode::MRV0004>(fmt::format("there is no rule '{}'{}; 'mrvlc rules list' shows all",
                                                    printable(name), did_you_mean(name, names)));
  }
  return fmt::format("# {}\n{}\n", rules::location_text(*rule, rule->at), rule->text);
}

namespace {

// Files of a library, whose rules no accelerator knows.
bool make_calls(const std::vector<rules::RuleFile>& files) {
  return std::ranges::any_of(files, [](const rules::RuleFile& f) {
    size_t at = 0;
    while ((at = f.text.find("layer", at)) != std::string::npos) {
      at = std::min(f.text.find_first_not_of(" \t\r\n", at + 5), f.text.size());
      if (f.text.compare(at, 5, "call\n") == 0 || f.text.compare(at, 5, "call ") == 0) return true;
    }
    return false;
  });
}

}  // namespace

Diagnostics rules_check(const CompileOptions& options, const std::filesystem::path& file) {
  Diagnostics diagnostics;
  std::vector<std::filesystem::path> all = options.rules;
  all.push_back(file);
  auto files = read_rule_files(all);
  if (!files.ok()) {
    diagnostics.add(files.error());
    return diagnostics;
  }
  auto library = library_of(options);
  if (!library.ok() || *library || make_calls(*files)) {
    rules::LoadResult own = partition::load_library_rules(*files);
    if (!library.ok()) own.diagnostics.add(library.error());
    if (!own.diagnostics.has_errors())
      for (const Diag& d : own.advice.list()) own.diagnostics.add(d);
    return own.diagnostics;
  }
  // By itself first: overlap with the built-in rules depends on --no-default-rules.
  rules::LoadResult alone = partition::load_rules({}, *files);
  if (alone.diagnostics.has_errors()) return alone.diagnostics;
  for (const Diag& d : alone.advice.list()) alone.diagnostics.add(d);
  if (!options.default_rules) return alone.diagnostics;
  auto backend = backend_or_default(options);
  if (!backend.ok()) {
    alone.diagnostics.add(backend.error());
    return alone.diagnostics;
  }
  rules::LoadResult together =
      partition::load_rules((*backend)->rule_file(), *files, (*backend)->layer_words());
  for (const Diag& d : together.diagnostics.list()) {
    if (d.severity() != Severity::Error) continue;
    alone.diagnostics.add(make_diag<DiagCode::MRV0321>(file.string(), d.message, ""));
    break;
  }
  return alone.diagnostics;
}

Result<std::string> rules_format(const std::filesystem::path& file) {
  MRVLC_ASSIGN(const std::string text, read_file(file, kMaxRuleFile));
  // Only what can be read can be put in order.
  MRVLC_ASSIGN(const std::vector<rules::RuleFile> files, read_rule_files({file}));
  const rules::LoadResult loaded = partition::load_rules({}, files);
  for (const Diag& d : loaded.diagnostics.list()) {
    if (d.code == DiagCode::MRV0301 || d.code == DiagCode::MRV0313) return d;
  }
  return rules::format_rules(text);
}

}  // namespace mrvlc::driver
