#include <fmt/ranges.h>

#include <algorithm>

#include "builtin.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/machine.h"

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

Result<std::string> target_text(std::string_view name, const std::vector<std::filesystem::path>& search) {
  if (plain_name(name)) {
    for (const auto& folder : search) {
      std::error_code error;
      std::filesystem::path file = folder / name / "target.json";
      if (std::filesystem::exists(file, error)) return read_file(file, 1 << 20);
    }
    for (const BuiltinTarget& t : builtins())
      if (t.name == name) return std::string(t.json);
  }
  return make_diag<DiagCode::MRV0352>(printable(name), fmt::format("{}", fmt::join(builtin_targets(), ", ")));
}

Result<Machine> load_machine(std::string_view name, const std::vector<std::filesystem::path>& search) {
  MRVLC_ASSIGN(std::string text, target_text(name, search));
  MRVLC_ASSIGN(Machine machine, parse_machine(text, name));
  if (machine.name != name)
    return make_diag<DiagCode::MRV0351>(printable(name), "name", "differs from the name it was asked for by");
  return machine;
}

}  // namespace mrvlc::target
