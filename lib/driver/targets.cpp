// `mrvlc targets list|show|check|new`.
#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/find.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

std::string line(std::string_view name, std::string_view description, std::string_view from) {
  return fmt::format("{:<16} {:<56} {}\n", printable(name), printable(description, 200), from);
}

}  // namespace

std::string targets_list(const std::vector<fs::path>& search) {
  std::string out =
      line("target", "description", "from") + line("host", "the CPU alone: C99, no accelerator", "built in");
  for (const target::Package& package : target::packages(search)) {
    auto machine = target::load_machine(package.name, search);
    out += line(package.name, machine.ok() ? machine->description : "faulty: " + machine.error().message,
                package.file.empty() ? "built in" : printable(package.file.string(), 4096));
  }
  return out;
}

Result<std::string> targets_show(const std::string& name, const std::vector<fs::path>& search) {
  if (name == "host") return std::string("host: the CPU alone: C99, no accelerator\n");
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, search));
  MRVLC_ASSIGN(target::Machine m, target::read_machine(name, text));
  std::string out = fmt::format("{}: {}\n", m.name, m.description);
  for (const auto& file : text.files) out += fmt::format("  from {}\n", printable(file.path.string(), 4096));
  for (const auto& p : m.provenance)
    out += fmt::format("  {:<28} {:>10}  {:<8} {}\n", p.field, p.value, p.source, p.note);
  return out;
}

Result<std::string> targets_check(const fs::path& dir, const std::vector<fs::path>& search) {
  const fs::path file = dir / "target.json";
  MRVLC_ASSIGN(const target::TargetText text, target::read_target(file, search));
  MRVLC_ASSIGN(target::Machine m, target::parse_machine(text.json, file.string()));
  std::error_code ec;
  const std::string folder = fs::canonical(dir, ec).filename().string();
  if (ec || folder == m.name) return fmt::format("{}: no errors\n", m.name);
  return make_diag<DiagCode::MRV0351>(
      printable(file.string(), 4096), "name",
      fmt::format("is '{}' and the folder '{}': a package is found by its folder's name", printable(m.name),
                  printable(folder)));
}

Result<std::string> targets_new(const std::string& name, const std::string& base, const fs::path& in,
                                const std::vector<fs::path>& search) {
  const fs::path folder = in / name;
  std::error_code ec;
  MRVLC_ASSIGN(const std::string text, target::new_variant(name, base, search));
  if (fs::exists(folder, ec)) return make_diag<DiagCode::MRV0002>(folder.string(), "it is there already");
  fs::create_directories(folder, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(folder.string(), ec.message());
  MRVLC_TRY(write_file_atomic(folder / "target.json", text));
  return fmt::format("wrote {}\n", (folder / "target.json").string());
}

}  // namespace mrvlc::driver
