// Cuts regions out of the graph.
#include "host_parts.h"

#include "mrvlc/ir/part.h"
#include "mrvlc/passes/widen_f16.h"

namespace mrvlc::driver {

Result<std::vector<ir::Graph>> host_parts(const CompiledModel& m, const CompileOptions& options) {
  std::vector<ir::Graph> parts;
  if (!options.on_device_error.cpu && options.on_overflow != chost::OnOverflow::Cpu) return parts;
  for (const auto& [graph, region] : all_regions(m.model.graph, m.partition)) {
    std::vector<ir::NodeId> nodes;
    for (const partition::Layer& layer : region->layers)
      nodes.insert(nodes.end(), layer.nodes.begin(), layer.nodes.end());
    ir::Graph part = ir::part_of(*graph, nodes, region->inputs, region->outputs);
    bool changed = false;
    MRVLC_TRY(passes::widen_f16(
        part, [](const ir::Node&) { return true; }, changed));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace mrvlc::driver
