// A trial ends when everything is placed: what rules take without the constraints that name them, what a
// changed placement.json differs from, and what is on the accelerator without borders.
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "placement/constrained.h"
#include "stages/stages.h"

namespace mrvlc::driver {
namespace {

class PlacementTrials {
 public:
  PlacementTrials(const ImportedModel& imported, const std::optional<AccuracyChoice>& choice)
      : imported_(imported), choice_(choice) {}

  Result<AssignedNodes> with(const std::vector<Constraint>& constraints) const {
    ImportedModel copy = imported_;
    copy.options = for_trial(copy.options);
    Session session(copy.options);
    Said said;
    auto simplified = simplify_model(session, std::move(copy), {constraints, choice_}, said);
    const auto placed =
        simplified ? place_model(session, *std::move(simplified), choice_, said) : std::nullopt;
    if (placed) return AssignedNodes(placed->model.graph, placed->partition, placed->machine().name);
    return *std::ranges::find(said.diagnostics.list(), Severity::Error, &Diag::severity);
  }

 private:
  const ImportedModel& imported_;
  const std::optional<AccuracyChoice>& choice_;
};

std::vector<Constraint> without_rules(const std::vector<Constraint>& constraints) {
  std::vector<Constraint> out;
  for (const Constraint& c : constraints) {
    if (!asks_for_rules({c})) out.push_back(c);
  }
  return out;
}

Status name_rules(const PlacementTrials& trials, std::vector<Constraint>& constraints) {
  if (!asks_for_rules(constraints)) return {};
  MRVLC_ASSIGN(const AssignedNodes placed, trials.with(without_rules(constraints)));
  resolve_rules(constraints, placed);
  return {};
}

}  // namespace

bool resolved_by_trial(const CompileOptions& options) {
  const std::vector<Constraint> asked = constraints_of(options);
  return !options.placement.empty() || asks_for_rules(asked) || std::ranges::any_of(asked, draws_borders);
}

Result<Constrained> constrain(const ImportedModel& imported, const PlacementAsked& asked,
                              Diagnostics& diagnostics) {
  Constrained out;
  if (asked.constraints) {
    out.resolved = *asked.constraints;
    return out;
  }
  const CompileOptions& options = imported.options;
  const PlacementTrials trials(imported, asked.choice);
  const std::string shown = options.placement.filename().string();
  out.asked = constraints_of(options);
  PlacementFile& read = out.file;
  if (!options.placement.empty()) {
    MRVLC_ASSIGN(read, read_placement(imported.inputs.placement, shown));
    const std::string& model = imported.model.sha256;
    if (!read.model_sha256.empty() && read.model_sha256 != model)
      diagnostics.add(make_diag<DiagCode::MRV1070>(shown, printable(read.model_sha256, 64), model));
    out.asked.insert(out.asked.end(), read.constraints.begin(), read.constraints.end());
  }
  out.resolved = out.asked;
  MRVLC_TRY(name_rules(trials, out.resolved));
  if (!read.nodes.empty()) {
    MRVLC_ASSIGN(const AssignedNodes placed, trials.with(out.resolved));
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
