// `mrvlc mesh`: machines, and the check of an OUT.
#include "mrvlc/driver/mesh.h"

#include <fmt/format.h>

#include "folder/output_folder.h"
#include "mrvlc/mesh/check.h"
#include "mrvlc/mesh/mesh.h"
#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {

std::string mesh_list() {
  std::string text;
  for (const std::string& name : mesh::machine_names()) {
    const auto m = mesh::find_machine(name);
    if (!m.ok()) continue;
    text += fmt::format("{:14} {} x {} chips of {} PEs, {} bytes each\n", name, m->chips.columns.value,
                        m->chips.rows.value, m->chips.pes.value, m->pe.sram_bytes.value);
  }
  return text + "mesh-N         a chip of N PEs\nmesh-RxCxN     R rows of C chips of N PEs\n";
}

Result<std::string> mesh_show(const std::string& name) {
  MRVLC_ASSIGN(const mesh::Machine m, mesh::find_machine(name));
  return mesh::to_json(m);
}

Result<std::string> mesh_check(const std::filesystem::path& out, Diagnostics& diagnostics) {
  std::error_code ec;
  if (!std::filesystem::exists(out / mesh::kPlanFile, ec)) return make_diag<DiagCode::MRV1307>(out.string());
  MRVLC_ASSIGN(const OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(const std::string text, read_file(out / mesh::kPlanFile));
  MRVLC_ASSIGN(const mesh::Plan plan, mesh::parse_plan(text));
  MRVLC_ASSIGN(const std::string blob, read_file(out / mesh::kBlobFile));
  mesh::Findings found = mesh::check(plan, blob.size());
  for (const mesh::ProgramFile& p : plan.programs)
    if (const auto file = folder.files.find(p.file); file == folder.files.end() || file->second != p.sha256)
      found.faults.push_back(p.file + " is not what was written");
  for (const auto& [file, sha256] : folder.files)
    if (!folder.check(file).ok()) found.faults.push_back(file + " is not what was written");
  for (const std::string& fault : found.faults) diagnostics.add(make_diag<DiagCode::MRV1306>(fault));
  if (!found.faults.empty()) return std::string();
  return fmt::format(
      "proved: {} tasks on {} PEs of {} end for any number of images; {} bytes are sent an image; at most {} "
      "of "
      "{} bytes of a PE and {} of {} routing entries of a chip are taken\n",
      plan.tasks.size(), plan.pes.size(), plan.machine.name, found.moved_bytes, found.most_memory,
      plan.machine.pe.sram_bytes.value, found.most_entries, plan.machine.chips.router_entries.value);
}

}  // namespace mrvlc::driver
