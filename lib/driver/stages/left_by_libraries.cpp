// The passes and rules once more, with all dequantized constants kept.
#include "stages/left_by_libraries.h"

#include "mrvlc/driver/place.h"

namespace mrvlc::driver {

Result<LeftByLibraries> LeftByLibraries::of(const ir::Graph& unplaced, const PlacedModel& m,
                                            passes::RunOptions run) {
  LeftByLibraries out;
  if (!m.libraries.integers) return out;
  ir::Graph graph = unplaced;
  run.context.stays = dequantizes_constant;
  run.after = {};
  MRVLC_TRY(passes::run_passes(graph, passes::library_pipeline(), run));
  MRVLC_TRY(passes::run_passes(graph, m.libraries.passes, run));
  partition::Options options;
  options.libraries = &m.libraries.rules;
  out.of_accelerator_ = m.has_accelerator && m.backend->sees_integers();
  if (out.of_accelerator_) options.turns = m.turns;
  MRVLC_ASSIGN(const partition::Partition p,
               partition::partition(graph, out.of_accelerator_ ? m.accelerator() : nullptr, options));
  for (const partition::NodeDecision& d : p.decisions) {
    if (d.on_target() || d.trials.empty()) continue;
    for (ir::SourceId s : graph.lineage(d.node).sources) out.left_.emplace(s, d);
  }
  return out;
}

void LeftByLibraries::tell(const ir::Graph& graph, partition::Partition& partition) const {
  for (partition::NodeDecision& d : partition.decisions) {
    if (d.on_target() || (d.why != partition::Why::NoRule && d.why != partition::Why::Refused)) continue;
    if (partition.accelerator && !of_accelerator_ && !d.trials.empty()) continue;
    for (ir::SourceId s : graph.lineage(d.node).sources) {
      const auto found = left_.find(s);
      if (found == left_.end()) continue;
      d.why = found->second.why;
      d.reason = found->second.reason;
      d.trials = found->second.trials;
      break;
    }
  }
}

}  // namespace mrvlc::driver
