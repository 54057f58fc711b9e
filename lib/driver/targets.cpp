// `mrvlc targets list|show|check`.
#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::driver {

std::string targets_list() {
  std::string out = fmt::format("{:<16} {}\n{:<16} {}\n", "target", "description", "host",
                                "the CPU alone: C99, no accelerator");
  for (const std::string& name : target::builtin_targets()) {
    auto machine = target::load_machine(name, {});
    if (machine.ok()) out += fmt::format("{:<16} {}\n", name, machine->description);
  }
  return out;
}

Result<std::string> targets_show(const std::string& name, const std::vector<std::filesystem::path>& search) {
  if (name == "host") return std::string("host: the CPU alone: C99, no accelerator\n");
  MRVLC_ASSIGN(target::Machine m, target::load_machine(name, search));
  std::string out = fmt::format("{}: {}\n", m.name, m.description);
  for (const auto& p : m.provenance)
    out += fmt::format("  {:<28} {:>10}  {:<8} {}\n", p.field, p.value, p.source, p.note);
  return out;
}

Result<std::string> targets_check(const std::filesystem::path& dir) {
  std::filesystem::path file = dir / "target.json";
  MRVLC_ASSIGN(std::string text, read_file(file, 16u << 20));
  MRVLC_ASSIGN(target::Machine m, target::parse_machine(text, file.string()));
  return fmt::format("{}: no errors\n", m.name);
}

}  // namespace mrvlc::driver
