// A trial is a compile that ends when everything is placed: what rules take without the constraints that name
// them, what a changed placement.json differs from, and what is on the accelerator without borders.
#include "constrained.h"

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"

namespace mrvlc::driver {
namespace {

class Trials {
 public:
  Trials(const CompileOptions& options, const CompileHooks& hooks)
      : options_(for_trial(options)), choice_(hooks.choice) {
    options_.placement.clear();
  }

  Result<Placed> with(const std::vector<Constraint>& constraints) const {
    std::optional<Placed> out;
    CompileHooks hooks;
    hooks.constraints = constraints;
    hooks.choice = choice_;
    hooks.placed = [&](ir::Graph& graph, partition::Partition& partition,
                       const target::Machine& machine) -> Status {
      out.emplace(graph, partition, machine.name);
      return make_diag<DiagCode::MRV0009>("a trial ends here");
    };
    Diagnostics said;
    compile(options_, said, hooks);
    if (out) return *std::move(out);
    for (const Diag& d : said.list()) {
      if (d.severity() == Severity::Error) return d;
    }
    return make_diag<DiagCode::MRV0007>("a trial of the placement ended without one");
  }

 private:
  CompileOptions options_;
  std::optional<AccuracyChoice> choice_;
};

std::vector<Constraint> without_rules(const std::vector<Constraint>& constraints) {
  std::vector<Constraint> out;
  for (const Constraint& c : constraints) {
    if (!asks_for_rules({c})) out.push_back(c);
  }
  return out;
}

Status name_rules(const Trials& trials, std::vector<Constraint>& constraints) {
  if (!asks_for_rules(constraints)) return {};
  MRVLC_ASSIGN(const Placed placed, trials.with(without_rules(constraints)));
  resolve_rules(constraints, placed);
  return {};
}

}  // namespace

Result<Constrained> constrain(const CompileOptions& options, const std::string& file,
                              const CompileHooks& hooks, const std::string& model_sha256,
                              Diagnostics& diagnostics) {
  Constrained out;
  if (hooks.constraints) {
    out.resolved = *hooks.constraints;
    return out;
  }
  const Trials trials(options, hooks);
  const std::string shown = options.placement.filename().string();
  out.asked = constraints_of(options);
  PlacementFile& read = out.file;
  if (!options.placement.empty()) {
    MRVLC_ASSIGN(read, read_placement(file, shown));
    if (!read.model_sha256.empty() && read.model_sha256 != model_sha256)
      diagnostics.add(make_diag<DiagCode::MRV1070>(shown, printable(read.model_sha256, 64), model_sha256));
    out.asked.insert(out.asked.end(), read.constraints.begin(), read.constraints.end());
  }
  out.resolved = out.asked;
  MRVLC_TRY(name_rules(trials, out.resolved));
  if (!read.nodes.empty()) {
    MRVLC_ASSIGN(const Placed placed, trials.with(out.resolved));
    MRVLC_ASSIGN(read, matched(std::move(read), placed, shown, diagnostics));
    MRVLC_ASSIGN(const std::vector<Constraint> changed, changes(read, placed, shown));
    out.edited = !changed.empty();
    out.asked.insert(out.asked.end(), changed.begin(), changed.end());
    out.resolved.insert(out.resolved.end(), changed.begin(), changed.end());
  }
  if (std::ranges::any_of(out.resolved, draws_borders)) {
    MRVLC_ASSIGN(out.unbordered, trials.with(without_borders(out.resolved)));
  }
  return out;
}

}  // namespace mrvlc::driver
