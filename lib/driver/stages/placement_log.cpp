// The decisions of placement, for the log: a line a region, a node, a rule tried.
#include "stages/placement_log.h"

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::driver {
namespace {

void tell_trial(const partition::RuleTrial& t, const Log& log) {
  if (t.accepted) return log.trace("  rule {} takes it", t.rule);
  log.trace("  rule {} does not: {}; {}", t.rule, printable(t.condition), printable(t.reason, 400));
}

void tell_decision(const ir::Graph& graph, const partition::NodeDecision& d, const Log& log) {
  const ir::Node& n = graph.node(d.node);
  const std::string where = d.accelerator ? fmt::format("region {}", d.region) : std::string("CPU");
  log.debug("node '{}' ({}): {}: {}", printable(n.name), n.op->name, where, printable(d.reason, 400));
  for (const auto& t : d.trials) tell_trial(*t, log);
}

}  // namespace

void tell_placement(const PlacedModel& m, const Log& log) {
  if (!log.shows(LogLevel::Info)) return;
  size_t taken = 0;
  for (const partition::NodeDecision& d : m.partition.decisions) taken += d.accelerator ? 1 : 0;
  log.info("placement: {} of {} nodes on the accelerator, {} regions", taken, m.partition.decisions.size(),
           m.partition.regions.size());
  for (const auto& [graph, r] : all_regions(m.model.graph, m.partition))
    log.debug("region {}: {} layers, {} inputs, {} outputs", r->id, r->layers.size(), r->inputs.size(),
              r->outputs.size());
  if (!log.shows(LogLevel::Debug)) return;
  for (const partition::NodeDecision& d : m.partition.decisions) tell_decision(m.model.graph, d, log);
  for (const partition::BodyPartition& body : m.partition.bodies)
    for (const partition::NodeDecision& d : body.partition.decisions) tell_decision(*body.graph, d, log);
}

}  // namespace mrvlc::driver
