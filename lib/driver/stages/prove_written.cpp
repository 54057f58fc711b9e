// --prove: reads back what was written, the model too, as `mrvlc prove` does.
#include "stages/prove_written.h"

#include <fmt/format.h>

#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/json_document.h"
#include "output/proof_json.h"
#include "prove/prove_files.h"

namespace mrvlc::driver {
namespace {

std::map<std::string, prove::Target> targets_of(const CompiledModel& m) {
  std::map<std::string, prove::Target> targets;
  for (size_t i = 0; i < m.regions.size(); ++i) {
    const target::Machine& machine = m.backend_of(m.regions[i]).machine();
    targets[fmt::format("{}.region{}.mrvl", m.name, i)] = {machine.ocm_bytes, machine.accumulator_pixels};
  }
  return targets;
}

}  // namespace

Status prove_written(const CompiledModel& m, OutputDir& out, Diagnostics& diagnostics) {
  if (!m.options.gates.proved || m.regions.empty()) return {};
  Provable of;
  MRVLC_ASSIGN(of.hints, read_file(out.staged(kProofFile)));
  const std::filesystem::path quantized = out.staged(m.name + ".quantized.onnx");
  std::error_code ec;
  const bool is_quantized = std::filesystem::exists(quantized, ec);
  MRVLC_ASSIGN(of.model, model_to_prove(is_quantized ? quantized : m.options.model, of.hints,
                                        m.options.import.external_data_dir, diagnostics));
  for (const auto& [file, sha] : out.files())
    if (file.ends_with(".mrvl")) of.files.emplace_back(file, sha);
  of.path = [&](const std::string& file) { return out.staged(file); };
  of.targets = targets_of(m);
  MRVLC_ASSIGN(const Proved proved, prove_files(of, ""));
  if (std::vector<Diag> refused = refusals(proved.proof); !refused.empty()) {
    for (size_t i = 1; i < refused.size(); ++i) diagnostics.add(std::move(refused[i]));
    return std::move(refused[0]);
  }
  if (const auto gap = gap_of(proved.proof))
    diagnostics.add(make_diag<DiagCode::MRV1106>(gap->nodes, gap->of, gap->first));
  return out.write(kCertificate, json_document(proved.certificate));
}

}  // namespace mrvlc::driver
