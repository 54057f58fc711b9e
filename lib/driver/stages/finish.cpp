// The host's code, reports, and OUT.
#include "model/accuracy.h"
#include "output/depfile.h"
#include "output/expected.h"
#include "output/gates.h"
#include "output/output.h"
#include "stages/hashes.h"
#include "stages/host_messages.h"
#include "stages/host_parts.h"
#include "stages/ineffective_options.h"
#include "stages/prove_written.h"
#include "stages/stages.h"
#include "stages/timing_file.h"

namespace mrvlc::driver {
namespace {

Status generate_host(CompiledModel& m, const std::optional<chost::Tuning>& tuning, Said& said) {
  const chost::Options options = host_options(m, m.options, tuning ? *tuning : tuning_of(m.inputs.tuning));
  MRVLC_ASSIGN(m.host, chost::generate(m.model.graph, m.partition, m.regions, options));
  tell_host(m, said.diagnostics);
  warn_ineffective_options(m.options, m, said.diagnostics);
  warn_unread(m, said.diagnostics);
  ProgramText text{{m.name + ".c"}, {&m.host.files, &m.libraries.files}, m.libraries.linked.standard};
  const std::vector<std::string>& linked = m.libraries.linked.sources;
  text.compiled.insert(text.compiled.end(), linked.begin(), linked.end());
  MRVLC_ASSIGN(m.size, measure_size(m.options.measure_size, text));
  return {};
}

Status write(const CompiledModel& m, TimingFile& timing, Report& report, Said& said) {
  WriteHooks hooks;
  hooks.before_manifest = [&](OutputDir& out) { return prove_written(m, out, said.diagnostics); };
  hooks.before_commit = [&](const OutputDir& out) -> Status {
    if (auto slow = slower_than_host(report)) said.diagnostics.add(*std::move(slow));
    MRVLC_TRY(check_gates(report, m.baseline, m.options.gates, said.diagnostics));
    for (const auto& file : m.model.files) MRVLC_TRY(file.bytes->unchanged());
    MRVLC_TRY(timing.open(out));
    return write_depfile(m.options, {m.read, m.searched}, said.diagnostics);
  };
  return write_output(m, m.options, hooks, report);
}

}  // namespace

std::optional<Finished> finish_model(Session& session, Probed probed,
                                     const std::optional<chost::Tuning>& tuning, Said& said) {
  Finished out{{std::move(probed.model), {}, {}}, {}};
  CompiledModel& m = out.model;
  TimingFile timing(m.options);
  const auto phase = [&](const char* name, auto f) { return session.phase(name, said, f); };
  const auto find_limits = [&]() -> Status {
    MRVLC_ASSIGN(m.accuracy.limits, probed.probe.limits(m, m.options));
    return {};
  };
  if (!judge(m.accuracy, m.options, said.diagnostics) || !phase("probe", find_limits)) return std::nullopt;
  probed.probe = {};  // its graph has all weights
  if (!phase("host", [&] { return generate_host(m, tuning, said); }) ||
      !phase("hash", [&] { return take_hashes(m); }) ||
      !phase("write", [&] { return write(m, timing, out.report, said); }))
    return std::nullopt;
  if (Status timed = timing.write(session.timer, session.pass_times); !timed.ok()) {
    said.diagnostics.add(timed.error());
    return std::nullopt;
  }
  return out;
}

}  // namespace mrvlc::driver
