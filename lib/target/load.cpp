// Machines by name: packages in folders, and built in.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "builtin.h"
#include "folders.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/target/find.h"
#include "text.h"

namespace mrvlc::target {
namespace {

namespace fs = std::filesystem;

// Packages that extend one another are a few; a longer chain is a mistake.
constexpr size_t kMaxChain = 16;

std::span<const BuiltinTarget> builtins() {
  return {kBuiltinTargets, kBuiltinTargetCount};
}

// The files of one package and of what it extends, and the JSON of the whole.
class Reader {
 public:
  explicit Reader(const Folders& search) : search_(search) {}

  Result<TargetText> named(std::string_view name) {
    for (std::string next(name); !next.empty();) {
      MRVLC_ASSIGN(const std::string text, find(next));
      MRVLC_ASSIGN(next, add(text, next));
    }
    return whole();
  }

  Result<TargetText> of_file(const fs::path& file) {
    MRVLC_ASSIGN(const std::string text, read_file(file, kMaxTargetBytes));
    out_.files.push_back({file, file.parent_path().filename().string(), text});
    MRVLC_ASSIGN(const std::string base, add(text, file.string()));
    return base.empty() ? whole() : named(base);
  }

 private:
  // Adds one text of the chain; the name of what it extends, or "".
  Result<std::string> add(const std::string& text, std::string_view shown) {
    if (parts_.empty()) out_.json = text;
    MRVLC_ASSIGN(Json json, parse_target_json(text, shown));
    MRVLC_ASSIGN(std::string base, base_of(json, shown));
    parts_.push_back(std::move(json));
    if (base.empty() || parts_.size() < kMaxChain) return base;
    return make_diag<DiagCode::MRV0351>(printable(shown), "extends",
                                        fmt::format("makes a chain of more than {} targets", kMaxChain));
  }

  Result<TargetText> whole() {
    if (parts_.size() > 1) {
      Json json = std::move(parts_.back());
      for (size_t i = parts_.size() - 1; i-- > 0;) json = extended(std::move(json), parts_[i]);
      out_.json = json_document(json);
    }
    return std::move(out_);
  }

  bool has(const fs::path& file) const {
    std::error_code ec;
    return std::ranges::any_of(out_.files, [&](const auto& f) { return fs::equivalent(f.path, file, ec); });
  }

  // The first package of these folders that is not in the chain yet: cn10ka in a folder may extend the
  // built-in one.
  Result<std::optional<std::string>> in_folders(const std::string& name, const Folders& folders) {
    for (const fs::path& folder : folders) {
      std::error_code ec;
      fs::path file = folder / name / "target.json";
      if (!fs::exists(file, ec)) {
        out_.searched.absent.push_back(std::move(file));
        continue;
      }
      if (has(file)) continue;
      MRVLC_ASSIGN(std::string text, read_file(file, kMaxTargetBytes));
      out_.files.push_back({std::move(file), name, text});
      return std::optional(std::move(text));
    }
    return std::optional<std::string>();
  }

  Result<std::string> find(const std::string& name) {
    if (plain_name(name)) {
      MRVLC_ASSIGN(std::optional<std::string> text, in_folders(name, search_));
      if (text) return *std::move(text);
      for (const BuiltinTarget& t : builtins())
        if (t.name == name) {
          if (parts_.empty()) {
            out_.rules = t.rules;
            out_.builtin_files = t.files;
            out_.plugin = t.plugin;
          }
          return std::string(t.json);
        }
      out_.searched.variables = {"HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME"};
      MRVLC_ASSIGN(text, in_folders(name, data_folders()));
      if (text) return *std::move(text);
    }
    const bool again = std::ranges::any_of(out_.files, [&](const auto& f) { return f.name == name; });
    if (again)
      return make_diag<DiagCode::MRV0351>(printable(out_.files.back().name), "extends",
                                          fmt::format("leads back to '{}'", printable(name)));
    std::vector<std::string> known;
    for (const Package& p : packages(search_)) known.push_back(printable(p.name));
    const std::string suggested =
        did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end()));
    // Processors are no targets: C for all of them is what `host` writes.
    const std::string_view hint =
        suggested.empty() ? "; for a CPU or a microcontroller: --target host (docs/tutorial-cross.md)" : "";
    return make_diag<DiagCode::MRV0352>(printable(name),
                                        fmt::format("{}{}{}", fmt::join(known, ", "), suggested, hint));
  }

  const Folders& search_;
  std::vector<Json> parts_;
  TargetText out_;
};

}  // namespace

std::vector<std::string> builtin_targets() {
  std::vector<std::string> names;
  for (const BuiltinTarget& t : builtins()) names.emplace_back(t.name);
  return names;
}

Result<TargetText> find_target(std::string_view name, const Folders& search) {
  return Reader(search).named(name);
}

Result<TargetText> read_target(const fs::path& file, const Folders& search) {
  return Reader(search).of_file(file);
}

Result<std::string> target_text(std::string_view name, const Folders& search) {
  MRVLC_ASSIGN(TargetText found, find_target(name, search));
  return std::move(found.json);
}

Result<Machine> load_machine(std::string_view name, const Folders& search) {
  MRVLC_ASSIGN(TargetText found, find_target(name, search));
  return read_machine(name, found);
}

Result<Machine> read_machine(std::string_view name, const TargetText& text) {
  MRVLC_ASSIGN(Machine machine, parse_machine(text.json, name));
  if (machine.name != name)
    return make_diag<DiagCode::MRV0351>(printable(name), "name", "differs from the name it was asked for by");
  return machine;
}

}  // namespace mrvlc::target
