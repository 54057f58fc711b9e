// Machines by name: built in, or a file.
#include <fmt/ranges.h>

#include <algorithm>

#include "builtin.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/find.h"

namespace mrvlc::target {
namespace {

std::span<const BuiltinTarget> builtins() {
  return {kBuiltinTargets, kBuiltinTargetCount};
}

// A name is one path component, so that it cannot leave the search folders.
bool plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

std::vector<std::string> builtin_targets() {
  std::vector<std::string> names;
  for (const BuiltinTarget& t : builtins()) names.emplace_back(t.name);
  return names;
}

Result<TargetText> find_target(std::string_view name, const std::vector<std::filesystem::path>& search) {
  if (plain_name(name)) {
    for (const auto& folder : search) {
      std::error_code error;
      std::filesystem::path file = folder / name / "target.json";
      if (!std::filesystem::exists(file, error)) continue;
      MRVLC_ASSIGN(std::string json, read_file(file, 1 << 20));
      return TargetText{std::move(json), std::move(file)};
    }
    for (const BuiltinTarget& t : builtins())
      if (t.name == name) return TargetText{std::string(t.json), {}};
  }
  return make_diag<DiagCode::MRV0352>(printable(name), fmt::format("{}", fmt::join(builtin_targets(), ", ")));
}

Result<std::string> target_text(std::string_view name, const std::vector<std::filesystem::path>& search) {
  MRVLC_ASSIGN(TargetText found, find_target(name, search));
  return std::move(found.json);
}

Result<Machine> load_machine(std::string_view name, const std::vector<std::filesystem::path>& search) {
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
