// What --accel keeps on the accelerator.
#include "accuracy/pinned_sources.h"

#include <algorithm>

#include "mrvlc/partition/answers.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::driver {

std::set<ir::SourceId> pinned_sources(const ir::Graph& graph, const CompileOptions& options) {
  std::set<ir::SourceId> pinned;
  if (options.accel.empty()) return pinned;
  for (ir::NodeId id : graph.topological_order()) {
    const auto named = [&](const std::string& p) { return partition::answers(graph, graph.node(id), p); };
    const auto& sources = graph.lineage(id).sources;
    if (std::ranges::any_of(options.accel, named)) pinned.insert(sources.begin(), sources.end());
  }
  return pinned;
}

bool any_pinned(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes,
                const std::set<ir::SourceId>& pinned) {
  return std::ranges::any_of(nodes, [&](ir::NodeId n) {
    return std::ranges::any_of(graph.lineage(n).sources, [&](ir::SourceId s) { return pinned.contains(s); });
  });
}

}  // namespace mrvlc::driver
