// What runs where: by rules, by cost, by constraints, by a choice for the sake of accuracy.
#include "mrvlc/driver/place.h"

#include "accuracy/known.h"
#include "mrvlc/partition/costs.h"
#include "output/gates.h"
#include "stages/ineffective_options.h"
#include "stages/integers_left.h"
#include "stages/left_by_libraries.h"
#include "stages/passes_of.h"
#include "stages/placement_log.h"
#include "stages/stages.h"
#include "stages/targets_of.h"

namespace mrvlc::driver {
namespace {

partition::Options partition_options(const PlacedModel& m) {
  partition::Options o;
  o.turns = m.turns;
  o.known = &m.known;
  o.pins = m.pins;
  o.libraries = &m.libraries.rules;
  o.precisions = m.options.precisions;
  o.batch = m.options.import.batch;
  if (m.choice) o.cpu.insert(o.cpu.end(), m.choice->on_cpu.begin(), m.choice->on_cpu.end());
  return o;
}

// What a partition by cost asks; regions keep values as the partition's options and the choice say. Both are
// referred to.
partition::Costs costs_of(const PlacedModel& m, const partition::Options& options) {
  partition::Costs costs{m.inputs.host_model, [&m](const ir::Graph& graph, const partition::Region& r) {
                           return backend::seconds_alone(*m.backend, graph, r);
                         }};
  if (options.precisions.empty() && !(m.choice && !m.choice->precisions.empty())) return costs;
  costs.keep = [&](const ir::Graph& graph, partition::Region& r) {
    partition::assign_precisions(graph, r, options);
    if (m.choice) apply_precisions(*m.choice, graph, r);
  };
  return costs;
}

// What the passes made, partitioned.
Status place_once(PlacedModel& m) {
  m.known = knowledge(m.model.graph, m.options, m.inputs.calibration);
  partition::Options o = partition_options(m);
  const partition::Costs costs = costs_of(m, o);
  if (m.options.partition_by == CompileOptions::PartitionBy::Cost) o.costs = &costs;
  const size_t nodes = m.model.graph.node_slots();
  MRVLC_ASSIGN(m.partition, driver::place(m.model.graph, m.accelerator(), o, m.source_matches));
  MRVLC_TRY(partition::partition_bodies(m.model.graph, m.accelerator(), o, m.partition));
  m.rewritten = m.rewritten || m.model.graph.node_slots() != nodes;
  ir::number_expressions(m.model.graph);
  return partition::assign_precisions(m.model.graph, m.partition, o);
}

// The passes and the placement again, with what targets took known: the CPU computes the rest of a quantised
// network in integers.
Status place_in_integers(Session& session, PlacedModel& m, Said& said) {
  if (!m.unplaced) return {};
  const bool first = m.has_accelerator && m.backend->pass_limits().integers;
  const TakenSources taken(m.model.graph, m.partition);
  std::optional<ir::Graph> unplaced = std::exchange(m.unplaced, std::nullopt);
  passes::RunOptions run = pass_options(session, m, said);
  MRVLC_ASSIGN(const LeftByLibraries left, LeftByLibraries::of(*unplaced, m, run));
  left.tell(m.model.graph, m.partition);
  if (!taken.worth_a_round(first)) return {};
  m.model.graph = *std::move(unplaced);
  m.rewritten = true;
  if (m.has_accelerator) raise_fences(m.model.graph, m.pins.get(), &taken);
  run.context.stays = m.stays;
  MRVLC_TRY(taken.run_integer_passes(m.model.graph, run, first));
  MRVLC_TRY(run_pipeline(m, m.has_accelerator ? passes::float_pipeline() : passes::library_pipeline(), run));
  MRVLC_TRY(place_once(m));
  left.tell(m.model.graph, m.partition);
  return {};
}

Status place(Session& session, PlacedModel& m, Said& said) {
  MRVLC_TRY(place_once(m));
  MRVLC_TRY(place_in_integers(session, m, said));
  if (m.choice) apply_choice(*m.choice, m.model.graph, m.partition);
  if (const auto& before = m.constrained.unbordered)
    MRVLC_TRY(check_evictions(m.constrained.resolved, *before, m.model.graph, m.partition));
  warn_placement(m, partition_options(m), said.diagnostics);
  tell_placement(m, m.options.log);
  return {};
}

}  // namespace

std::optional<PlacedModel> place_model(Session& session, SimplifiedModel simplified,
                                       const std::optional<AccuracyChoice>& choice, Said& said) {
  PlacedModel m(std::move(simplified));
  m.choice = choice;
  // Borders are taken from the passes' fences again in a second round.
  if (m.pins != nullptr) m.pins = std::make_shared<partition::Pins>(*m.pins);
  if (!session.phase("partition", said, [&] { return place(session, m, said); }) ||
      (m.options.fail_on_fallback && !check_fallback(m, said.diagnostics)))
    return std::nullopt;
  return m;
}

std::optional<PlacedModel> placed_model(Session& session, const CompileOptions& options,
                                        const PlacementAsked& asked, Said& said) {
  auto simplified = simplified_model(session, options, asked, said);
  return simplified ? place_model(session, *std::move(simplified), asked.choice, said) : std::nullopt;
}

}  // namespace mrvlc::driver
