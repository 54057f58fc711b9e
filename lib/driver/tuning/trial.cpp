// One tuning of the network: compiled, built and timed, as a whole and by layer.
#include "tuning/trial.h"

#include <algorithm>

#include "tuning/select.h"

namespace mrvlc::driver {
namespace {

constexpr double kNsOfMs = 1e6;

}  // namespace

Result<PlacedModel> place_for_trials(const TuneOptions& options, Said& said) {
  CompileOptions compile = for_measuring(options.compile, CompileOptions::Probe::Never);
  MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
  compile.out = temporary.path() / "out";
  compile.name = "network";
  compile.targets = {"host"};
  Session session(compile);
  auto placed = placed_model(session, compile, {}, said);
  if (placed) return *std::move(placed);
  return make_diag<DiagCode::MRV0002>(options.compile.model.string(), "not compiled");
}

Result<TrialCompile> compile_trial(const PlacedModel& placed, const chost::Tuning& tuning, Said& said) {
  MRVLC_ASSIGN(TemporaryDir temporary, TemporaryDir::create());
  PlacedModel copy = placed;
  copy.options.out = temporary.path() / "out";
  Session session(copy.options);
  auto probed = probe_model(session, std::move(copy), nullptr, said);
  const auto done = probed ? finish_model(session, *std::move(probed), tuning, said) : std::nullopt;
  if (!done) return make_diag<DiagCode::MRV0002>(placed.options.model.string(), "not compiled");
  return TrialCompile{std::move(temporary), done->model.model.sha256, done->model.host.choices};
}

Result<TuningTrial> TuningTrial::build(const TuneOptions& options, TrialCompile compiled) {
  MRVLC_ASSIGN(const OutputFolder folder, open_output(compiled.temporary.path() / "out"));
  MRVLC_ASSIGN(MeasuredProgram program, MeasuredProgram::build(options.run, folder, MeasuredOn::Noise));
  return TuningTrial(std::move(compiled), std::move(program));
}

Status TuningTrial::run(bool steps) {
  constexpr int kFirst = 3, kMost = 300;
  constexpr double kRoundNs = 0.25e9;
  MRVLC_ASSIGN(const Measured m, program_.run(runs_ == 0 ? kFirst : runs_, steps));
  const double whole = kNsOfMs * m.least_ms;
  whole_ns_ = runs_ == 0 ? whole : std::min(whole_ns_, whole);
  for (const Measured::Step& s : m.steps) {
    const double ns = kNsOfMs * s.least_ms;
    const auto [at, is_new] = step_ns_.try_emplace(s.expr, ns);
    if (!is_new) at->second = std::min(at->second, ns);
  }
  const bool first = runs_ == 0;
  runs_ = static_cast<int>(std::clamp(kRoundNs / std::max(kNsOfMs * m.least_ms, 1.0), 2.0, double{kMost}));
  return first && runs_ > kFirst ? run(steps) : Status();
}

void TuningTrial::note(std::vector<TunedLayer>& layers) const {
  struct Sum {
    double ns = 0;
    int64_t count = 0;
  };
  std::map<std::pair<std::string, chost::Variant>, Sum, std::less<>> sums;
  for (const chost::LayerChoice& c : choices()) {
    const auto step = step_ns_.find(static_cast<uint32_t>(c.expr.index()));
    if (step == step_ns_.end()) continue;  // in a body of control flow
    Sum& sum = sums[{c.layer, c.taken}];
    sum.ns += step->second;
    ++sum.count;
  }
  for (const auto& [key, sum] : sums) {
    const auto at = std::ranges::lower_bound(layers, key.first, {}, &TunedLayer::layer);
    if (at == layers.end() || at->layer != key.first) continue;
    note_time(*at, key.second, sum.ns / static_cast<double>(sum.count));
  }
}

}  // namespace mrvlc::driver
