// Binaries of the regions, their times, and what the probe finds of their errors.
#include "inputs/side_inputs.h"
#include "stages/hashes.h"
#include "stages/host_parts.h"
#include "stages/region_compiler.h"
#include "stages/stages.h"

namespace mrvlc::driver {
namespace {

Status cut_host_parts(CodedModel& m) {
  MRVLC_ASSIGN(m.host_parts, host_parts(m, m.options));
  // Behind the probe's reference, in front of its runs: what the host loses is part of what it finds.
  if (m.options.host.host_weights == chost::WeightType::F16)
    m.half_weights = chost::round_weights(m.model.graph, m.partition, m.host_parts);
  return {};
}

// Float32 is computed while code is generated; binaries run when they are there.
Status begin_probe(PlacedModel& m, const Probe* like, std::optional<Probe>& out) {
  const auto& calibration = m.inputs.calibration;
  const bool of_file = calibration && !m.options.calibration.empty();
  if (of_file) MRVLC_TRY(take_hashes(m));
  if (of_file) MRVLC_TRY(check_calibration(m.options, *calibration, m.model.sha256));
  MRVLC_ASSIGN(out, Probe::begin(m, m.options, calibration ? &*calibration : nullptr, like));
  return {};
}

}  // namespace

Status take_hashes(ImportedModel& m) {
  if (!m.model.sha256.empty()) return {};  // a calibration needed it before
  const Result<std::vector<std::string>>& hashes = m.hashes.get();
  if (!hashes.ok()) return hashes.error();
  for (size_t i = 0; i < hashes->size(); ++i) m.read[i].sha256 = (*hashes)[i];
  m.model.sha256 = onnx::model_sha256(m.model.files, *hashes);
  return {};
}

std::optional<CodedModel> code_model(Session& session, PlacedModel placed, Said& said) {
  CodedModel m{std::move(placed), {}, {}, {}};
  if (!session.phase("host", said, [&] { return cut_host_parts(m); })) return std::nullopt;
  RegionCompiler regions(m, m.options, said.diagnostics, said.texts);
  for (const partition::PlacedRegion& region : all_regions(m.model.graph, m.partition))
    if (!session.phase("codegen", said, [&] { return regions.compile(region); })) return std::nullopt;
  return m;
}

std::optional<Probed> probe_model(Session& session, PlacedModel placed, const Probe* like, Said& said,
                                  const ShowCode& coded) {
  std::optional<Probe> probe;
  if (!session.phase("probe", said, [&] { return begin_probe(placed, like, probe); })) return std::nullopt;
  auto made = code_model(session, std::move(placed), said);
  if (!made) return std::nullopt;
  for (backend::RegionCode& region : made->regions)
    if (coded) coded(region);
  Probed out{{*std::move(made), {}, {}, {}}, *std::move(probe)};
  ProbedModel& m = out.model;
  const auto find_errors = [&]() -> Status {
    MRVLC_ASSIGN(m.accuracy, out.probe.finish(m));
    m.accuracy.choice = m.choice;
    return {};
  };
  if (!session.phase("simulate", said, [&] { return time_regions(m); }) ||
      !session.phase("probe", said, find_errors))
    return std::nullopt;
  return out;
}

}  // namespace mrvlc::driver
