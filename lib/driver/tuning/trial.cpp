// One tuning of the network: compiled, built and timed, as a whole and by layer.
#include "tuning/trial.h"

#include <algorithm>

#include "compile_hooks.h"
#include "tuning/select.h"

namespace mrvlc::driver {
namespace {

constexpr double kNsOfMs = 1e6;

CompileOptions trial_options(const CompileOptions& given, const std::filesystem::path& out) {
  CompileOptions o = for_measuring(given, CompileOptions::Probe::Never);
  o.out = out;
  o.name = "network";
  o.targets = {"host"};
  return o;
}

}  // namespace

Result<TrialCompile> compile_trial(const TuneOptions& options, const chost::Tuning& tuning, bool warn,
                                   Diagnostics& diagnostics) {
  MRVLC_ASSIGN(TemporaryDir temporary, TemporaryDir::create());
  const CompileOptions compile = trial_options(options.compile, temporary.path() / "out");
  TrialCompile out{std::move(temporary), {}, {}};
  CompileHooks hooks;
  hooks.tuning = tuning;
  hooks.generated = [&](const CompiledModel& m) { out.choices = m.host.choices; };
  Diagnostics found;
  const bool done = driver::compile(compile, found, hooks);
  for (const Diag& d : found.list())
    if (warn || d.severity() == Severity::Error) diagnostics.add(d);
  if (!done) return make_diag<DiagCode::MRV0002>(options.compile.model.string(), "not compiled");
  MRVLC_ASSIGN(const OutputFolder folder, open_output(compile.out));
  MRVLC_ASSIGN(const Json report, folder.json("report.json"));
  out.model = report.at("model").at("sha256").get<std::string>();
  return out;
}

Result<Trial> Trial::build(const TuneOptions& options, TrialCompile compiled) {
  MRVLC_ASSIGN(const OutputFolder folder, open_output(compiled.temporary.path() / "out"));
  MRVLC_ASSIGN(MeasuredProgram program, MeasuredProgram::build(options.run, folder, MeasuredOn::Noise));
  return Trial(std::move(compiled), std::move(program), options.compile.threads == 1);
}

Status Trial::run(bool steps) {
  constexpr int kFirst = 3, kMost = 300;
  constexpr double kRoundNs = 0.25e9;
  MRVLC_ASSIGN(const Measured m, program_.run(runs_ == 0 ? kFirst : runs_, steps));
  const double whole = kNsOfMs * (one_thread_ ? m.cpu_ms : m.least_ms);
  whole_ns_ = runs_ == 0 ? whole : std::min(whole_ns_, whole);
  for (const Measured::Step& s : m.steps) {
    const double ns = kNsOfMs * (one_thread_ ? s.cpu_ms : s.least_ms);
    const auto [at, is_new] = step_ns_.try_emplace(s.expr, ns);
    if (!is_new) at->second = std::min(at->second, ns);
  }
  const bool first = runs_ == 0;
  runs_ = static_cast<int>(std::clamp(kRoundNs / std::max(kNsOfMs * m.least_ms, 1.0), 2.0, double{kMost}));
  return first && runs_ > kFirst ? run(steps) : Status();
}

void Trial::note(std::vector<TunedLayer>& layers) const {
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
