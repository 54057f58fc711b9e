// `mrvlc targets list|show|check|new`.
#include "inputs/libraries.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/target/find.h"
#include "mrvlc/target/library.h"
#include "mrvlc/target/plugin.h"
#include "packages/package_build.h"
#include "packages/package_example.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr const char* kBuiltIn = "built in";

std::string line(std::string_view name, std::string_view kind, std::string_view description,
                 std::string_view from) {
  return fmt::format("{:<16} {:<9} {:<56} {}\n", printable(name), kind, printable(description, 200), from);
}

// As `targets new --kind` names them; what is built in, and what describes a whole machine, is "machine".
std::string kind_of(const std::string& name, const std::vector<fs::path>& search) {
  const auto text = target::find_target(name, search);
  if (!text.ok()) return "";
  if (target::is_plugin(text->json)) return "plugin";
  if (target::is_library(text->json)) return "call";
  return text->files.size() > 1 || (text->files.size() == 1 &&
                                    text->files.front().text.find("\"extends\"") != std::string::npos)
             ? "variant"
             : "machine";
}

Result<std::string> description_of(const std::string& name, const std::vector<fs::path>& search) {
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, search));
  if (target::is_plugin(text.json)) {
    MRVLC_ASSIGN(target::PluginPackage package, target::parse_plugin(text.json, name));
    return std::move(package.machine.description);
  }
  if (!target::is_library(text.json)) {
    MRVLC_ASSIGN(target::Machine machine, target::read_machine(name, text));
    return std::move(machine.description);
  }
  MRVLC_ASSIGN(target::LibraryPackage package, target::parse_library(text.json, name));
  return std::move(package.description);
}

// The package with its rules; what is wrong with these, too.
Result<Libraries> read_library(const std::string& name, const target::TargetText& text,
                               Diagnostics& diagnostics) {
  Libraries library;
  MRVLC_TRY(add_library(name, text, "", library, diagnostics));
  return library;
}

std::string origin_of(const target::TargetText& text) {
  return text.files.empty() ? kBuiltIn : printable(text.files.front().path.string(), 4096);
}

Result<std::string> show_library(const std::string& name, const target::TargetText& text) {
  MRVLC_ASSIGN(const target::LibraryPackage package, target::parse_library(text.json, name));
  Diagnostics warnings;
  MRVLC_ASSIGN(const Libraries library, read_library(name, text, warnings));
  std::string out =
      fmt::format("{}: {}\n  from {}\n", printable(name), printable(package.description), origin_of(text));
  for (const std::string& include : library.linked.includes)
    out += fmt::format("  #include {}\n", printable(include));
  for (const std::string& source : library.linked.sources)
    out += fmt::format("  compiled with {}\n", printable(source));
  for (const std::string& linked : library.linked.libraries)
    out += fmt::format("  linked with -l{}\n", printable(linked));
  for (const rules::Rule& r : library.rules.front().rules->set.rules()) {
    const std::string call = r.call ? r.call->function : "the CPU";
    out += fmt::format("  {:<18} {:>8}  {:<28} {}\n", r.name, r.priority, call, printable(r.why, 1000));
  }
  return out;
}

std::string rule_lines(const rules::RuleSet& set) {
  std::string out;
  for (const rules::Rule& r : set.rules())
    out += fmt::format("  {:<18} {:>8}  {:<28} {}\n", r.name, r.priority, r.layer, printable(r.why, 1000));
  return out;
}

Result<std::string> show_plugin(const std::string& name, const target::TargetText& text) {
  MRVLC_ASSIGN(const backends::Opened backend, backends::open(name, text, {}));
  const target::Machine& m = backend->machine();
  std::string out =
      fmt::format("{}: {}\n  from {}\n", printable(name), printable(m.description, 200), origin_of(text));
  out += fmt::format("  at most {} layers and {} ports a region, {} images; {} GHz, launch {} us\n",
                     m.max_layers, m.max_ports, m.max_batch, m.clock_ghz, m.launch_us);
  MRVLC_ASSIGN(const target::PluginPackage package, target::parse_plugin(text.json, name));
  if (package.integers) out += "  its rules see quantised networks with integers in front of every layer\n";
  for (const target::PackageOption& o : package.options)
    out += fmt::format("  --target-opt {}.{}={:<12} {}; takes {}\n", printable(name), o.key, o.standard,
                       o.help, target::allowed(o));
  return out + rule_lines(backend->rules()->set);
}

Status named_like_folder(const std::string& name, const fs::path& dir) {
  std::error_code ec;
  const std::string folder = fs::canonical(dir, ec).filename().string();
  if (ec || folder == name) return {};
  return make_diag<DiagCode::MRV0351>(
      printable((dir / "target.json").string(), 4096), "name",
      fmt::format("is '{}' and the folder '{}': a package is found by its folder's name", printable(name),
                  printable(folder)));
}

// The library is loaded and its table looked at, and the rules are read.
Result<std::string> check_plugin(const fs::path& dir, const target::TargetText& text, Diagnostics& warnings) {
  MRVLC_ASSIGN(const target::PluginPackage package,
               target::parse_plugin(text.json, (dir / "target.json").string()));
  MRVLC_TRY(named_like_folder(package.machine.name, dir));
  MRVLC_ASSIGN(const backends::Opened backend, backends::open(package.machine.name, text, {}));
  for (const Diag& d : backend->rules()->diagnostics.list()) warnings.add(d);
  return fmt::format("{}: no errors, {} rules\n", printable(package.machine.name),
                     backend->rules()->set.rules().size());
}

// The rules are read, and the package's C is compiled with its headers: what a user would meet later.
Result<std::string> check_library(const fs::path& dir, const target::TargetText& text,
                                  const PackageCompiler& compiler, Diagnostics& warnings) {
  MRVLC_ASSIGN(const target::LibraryPackage package,
               target::parse_library(text.json, (dir / "target.json").string()));
  MRVLC_TRY(named_like_folder(package.name, dir));
  MRVLC_ASSIGN(const Libraries library, read_library(package.name, text, warnings));
  MRVLC_TRY(compile_package(dir, library, compiler));
  return fmt::format("{}: no errors, {} rules\n", printable(package.name),
                     library.rules.front().rules->set.rules().size());
}

// All but the example.
Result<std::string> check_files(const fs::path& dir, const target::TargetText& text,
                                const PackageCompiler& compiler, Diagnostics& warnings) {
  if (target::is_library(text.json)) return check_library(dir, text, compiler, warnings);
  if (target::is_plugin(text.json)) return check_plugin(dir, text, warnings);
  MRVLC_ASSIGN(target::Machine m, target::parse_machine(text.json, (dir / "target.json").string()));
  MRVLC_TRY(named_like_folder(m.name, dir));
  return fmt::format("{}: no errors\n", printable(m.name));
}

}  // namespace

std::string targets_list(const std::vector<fs::path>& search, bool json) {
  constexpr const char* kHost = "the CPU alone: C99, no accelerator";
  std::string out = line("target", "kind", "description", "from") + line("host", "host", kHost, kBuiltIn);
  Json list = Json::array({{{"name", "host"}, {"kind", "host"}, {"description", kHost}, {"from", kBuiltIn}}});
  for (const target::Package& package : target::packages(search)) {
    auto described = description_of(package.name, search);
    const std::string description = described.ok() ? *described : "faulty: " + described.error().message;
    const std::string from = package.file.empty() ? kBuiltIn : printable(package.file.string(), 4096);
    const std::string kind = kind_of(package.name, search);
    out += line(package.name, kind, description, from);
    list.push_back({{"name", printable(package.name)},
                    {"kind", kind},
                    {"description", printable(description)},
                    {"from", from}});
    if (!described.ok()) list.back()["faulty"] = true;
  }
  return json ? json_document(list) : out;
}

namespace {

Json machine_json(const target::Machine& m, const target::TargetText& text) {
  Json fields = Json::object(), from = Json::array();
  for (const auto& file : text.files) from.push_back(printable(file.path.string(), 4096));
  for (const auto& p : m.provenance) {
    fields[p.field] = {{"value", p.value}, {"source", p.source}, {"note", p.note}};
    if (!p.pessimistic.empty()) fields[p.field]["pessimistic"] = p.pessimistic;
  }
  return {{"name", m.name}, {"description", m.description}, {"from", from}, {"fields", fields}};
}

// Of a package without numbers of ours: what its file says.
Result<Json> package_json(const std::string& name, const std::vector<fs::path>& search,
                          const target::TargetText& text) {
  MRVLC_ASSIGN(const std::string description, description_of(name, search));
  Json from = Json::array();
  for (const auto& file : text.files) from.push_back(printable(file.path.string(), 4096));
  return Json{{"name", printable(name)},
              {"description", printable(description)},
              {"from", from},
              {"package", Json::parse(text.json, nullptr, false)}};
}

Result<std::string> show_json(const std::string& name, const std::vector<fs::path>& search) {
  if (name == "host")
    return json_document(Json({{"name", "host"}, {"description", "the CPU alone: C99, no accelerator"}}));
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, search));
  if (target::is_library(text.json) || target::is_plugin(text.json)) {
    MRVLC_ASSIGN(const Json package, package_json(name, search, text));
    return json_document(package);
  }
  MRVLC_ASSIGN(const target::Machine m, target::read_machine(name, text));
  return json_document(machine_json(m, text));
}

}  // namespace

Result<std::string> targets_show(const std::string& name, const std::vector<fs::path>& search, bool json) {
  if (json) return show_json(name, search);
  if (name == "host") return std::string("host: the CPU alone: C99, no accelerator\n");
  MRVLC_ASSIGN(const target::TargetText text, target::find_target(name, search));
  if (target::is_library(text.json)) return show_library(name, text);
  if (target::is_plugin(text.json)) return show_plugin(name, text);
  MRVLC_ASSIGN(target::Machine m, target::read_machine(name, text));
  std::string out = fmt::format("{}: {}\n", printable(m.name), printable(m.description));
  for (const auto& file : text.files) out += fmt::format("  from {}\n", printable(file.path.string(), 4096));
  for (const auto& p : m.provenance)
    out += fmt::format("  {:<28} {:>10}  {:<8} {}{}\n", p.field, p.value, p.source, printable(p.note, 1000),
                       p.pessimistic.empty() ? "" : "; conservative: " + p.pessimistic);
  return out;
}

Result<std::string> targets_check(const fs::path& dir, const std::vector<fs::path>& search,
                                  const PackageCompiler& compiler, Diagnostics& warnings) {
  MRVLC_ASSIGN(const target::TargetText text, target::read_target(dir / "target.json", search));
  MRVLC_ASSIGN(const std::string checked, check_files(dir, text, compiler, warnings));
  std::error_code ec;
  MRVLC_ASSIGN(const std::string example,
               run_example(fs::canonical(dir, ec).filename().string(), dir, search, compiler));
  return checked + example;
}

Result<std::string> targets_new(const NewTarget& asked, const std::vector<fs::path>& search) {
  const fs::path folder = asked.in / asked.name;
  std::error_code ec;
  std::vector<target::PackageFile> files;
  if (asked.kind == NewTarget::Kind::Call) {
    MRVLC_ASSIGN(files, target::new_library(asked.name));
  } else if (asked.kind == NewTarget::Kind::Plugin) {
    MRVLC_ASSIGN(files, target::new_plugin(asked.name));
  } else {
    MRVLC_ASSIGN(std::string text, target::new_variant(asked.name, asked.base, search));
    files.push_back({"target.json", std::move(text)});
  }
  MRVLC_ASSIGN(std::string example, example_model());
  files.push_back({kExampleFile, std::move(example)});
  if (fs::exists(folder, ec)) return make_diag<DiagCode::MRV0002>(folder.string(), "it is there already");
  fs::create_directories(folder, ec);
  if (ec) return make_diag<DiagCode::MRV0002>(folder.string(), ec.message());
  std::string out;
  for (const target::PackageFile& file : files) {
    MRVLC_TRY(write_file_atomic(folder / file.name, file.text));
    out += fmt::format("wrote {}\n", (folder / file.name).string());
  }
  return out;
}

}  // namespace mrvlc::driver
