// A compile for a mesh: import and passes are those of the host, the rest is lib/mesh.
#include "mesh/compile_mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "explore/precision.h"
#include "folder/output_folder.h"
#include "mrvlc/driver/option_table.h"
#include "mrvlc/mesh/mesh.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/json_document.h"
#include "output/depfile.h"
#include "output/output.h"
#include "stages/hashes.h"
#include "stages/stages.h"

namespace mrvlc::driver {
namespace {

// Of the groups that say how accelerators, the host's code and its accuracy are, a mesh knows the precision
// alone.
bool applies(const OptionRecord& record) {
  const std::string_view name = long_name(record);
  switch (record.group) {
    case OptionGroup::Model:
    case OptionGroup::Builds:
      return true;
    case OptionGroup::Output:
      return name != "--emit";
    case OptionGroup::Target:
      return name == "--target" || name == "--chips" || name == "--without";
    case OptionGroup::Accuracy:
      return name == "--precision" || name == "--data";
    default:
      return false;
  }
}

Result<mesh::Machine> machine_of(const CompileOptions& options) {
  if (options.targets.size() != 1)
    return make_diag<DiagCode::MRV1308>("a second target beside '" + options.targets.back() + "'");
  for (const std::string& name : options.given)
    if (const OptionRecord* record = find_option(name); record != nullptr && !applies(*record))
      return make_diag<DiagCode::MRV1308>("'" + name + "'");
  MRVLC_ASSIGN(mesh::Machine machine, mesh::find_machine(options.targets[0]));
  machine.without = options.mesh_without;
  if (options.mesh_chips > 0) MRVLC_TRY(mesh::keep_chips(machine, options.mesh_chips));
  const auto working = mesh::working_parts(machine);
  if (!working.ok()) return working.error();
  return machine;
}

Status write(const CompiledModel& m, const CompileOptions& options, const mesh::Compiled& code,
             Diagnostics& diagnostics) {
  MRVLC_TRY(check_replaceable(options.out));
  InterruptGuard guard;  // a signal must not leave the staging folder behind
  MRVLC_ASSIGN(OutputDir dir, OutputDir::create(options.out));
  for (const auto& [file, bytes] : code.files) MRVLC_TRY(dir.write(file, bytes));
  MRVLC_TRY(dir.write("report.txt", mesh::report(code.plan)));
  MRVLC_TRY(dir.write("manifest.json", json_document(manifest_json(m, options, dir))));
  if (!options.force) MRVLC_TRY(keep_other_files(options.out, own_files(options.out), dir));
  for (const auto& file : m.model.files) MRVLC_TRY(file.bytes->unchanged());
  MRVLC_TRY(write_depfile(options, {m.read, m.searched}, diagnostics));
  if (interrupted() != 0) return make_diag<DiagCode::MRV0002>(options.out.string(), "interrupted");
  MRVLC_TRY(dir.commit());
  guard.done();
  return {};
}

std::vector<std::string> summary_of(const mesh::Plan& plan, const CompileOptions& options) {
  return {fmt::format("{}: {} layers in {} parts on {} of {} PEs of {}, {} programs, {} edges",
                      options.out.string(), plan.layers.size(), plan.tasks.size(), plan.pes.size(),
                      plan.machine.chip_count() * plan.machine.chips.pes.value, plan.machine.name,
                      plan.programs.size(), plan.edges.size())};
}

Result<mesh::Compiled> run(Session& session, const CompileOptions& given, Said& said) {
  MRVLC_ASSIGN(const mesh::Machine machine, machine_of(given));
  CompileOptions options = given;
  options.targets = {"host"};
  const Diag failed = make_diag<DiagCode::MRV1303>("an earlier stage failed");
  auto opened = open_targets(session, options, said);
  if (!opened || !quantize_for(opened->options, false, said.diagnostics)) return failed;
  auto imported = import_model(session, *std::move(opened), said);
  auto simplified = imported ? simplify_model(session, *std::move(imported), {}, said) : std::nullopt;
  if (!simplified) return failed;
  mesh::Compiled code;
  CompiledModel m;
  static_cast<SimplifiedModel&>(m) = *std::move(simplified);
  const auto make = [&]() -> Status {
    MRVLC_ASSIGN(code, mesh::compile(m.model.graph, machine));
    return {};
  };
  if (!session.phase("mesh", said, make) || !session.phase("hash", said, [&] { return take_hashes(m); }) ||
      !session.phase("write", said, [&] { return write(m, given, code, said.diagnostics); }))
    return failed;
  return code;
}

}  // namespace

bool for_mesh(const CompileOptions& options) {
  return std::ranges::any_of(options.targets, mesh::is_machine);
}

bool compile_mesh(const CompileOptions& options, Diagnostics& diagnostics,
                  const std::function<void(std::string)>& dump, std::vector<std::string>* summary) {
  Session session(options);
  Said said;
  const auto done = run(session, options, said);
  for (const std::string& text : said.texts) dump(text);
  // A stage that failed has said why.
  if (!done.ok() && !said.diagnostics.has_errors()) said.diagnostics.add(done.error());
  for (const Diag& d : said.diagnostics.list()) diagnostics.add(d);
  if (done.ok() && summary != nullptr) *summary = summary_of(done->plan, options);
  return done.ok();
}

}  // namespace mrvlc::driver
