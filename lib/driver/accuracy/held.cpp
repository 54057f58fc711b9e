// What --accel keeps on the accelerator.
#include "accuracy/held.h"

#include <algorithm>

#include "mrvlc/partition/answers.h"

namespace mrvlc::driver {

std::set<ir::SourceId> held_sources(const ir::Graph& graph, const CompileOptions& options) {
  std::set<ir::SourceId> held;
  if (options.accel.empty()) return held;
  for (ir::NodeId id : graph.topological_order()) {
    const auto named = [&](const std::string& p) { return partition::answers(graph, graph.node(id), p); };
    const auto& sources = graph.lineage(id).sources;
    if (std::ranges::any_of(options.accel, named)) held.insert(sources.begin(), sources.end());
  }
  return held;
}

bool any_held(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes,
              const std::set<ir::SourceId>& held) {
  return std::ranges::any_of(nodes, [&](ir::NodeId n) {
    return std::ranges::any_of(graph.lineage(n).sources, [&](ir::SourceId s) { return held.contains(s); });
  });
}

}  // namespace mrvlc::driver
