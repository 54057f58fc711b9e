// Cuts regions out of the graph; hands options on.
#include "stages/host_parts.h"

#include <algorithm>

#include "mrvlc/ir/part.h"
#include "mrvlc/passes/widen_f16.h"
#include "times/in_flight.h"

namespace mrvlc::driver {

Result<std::vector<ir::Graph>> host_parts(const PlacedModel& m, const CompileOptions& options) {
  std::vector<ir::Graph> parts;
  if (!options.host.on_device_error.cpu && options.host.on_overflow != chost::OnOverflow::Cpu) return parts;
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

chost::Options host_options(ProbedModel& m, const CompileOptions& options, chost::Tuning tuning) {
  chost::Options o = options.host;
  o.name = o.file_stem = m.name;
  o.targets = m.target_names();
  o.tuning = std::move(tuning);
  o.linked = m.libraries.linked;
  o.bare = emits(options, "bare");
  o.single = emits(options, "single");
  if (o.single) o.weights = chost::WeightsAs::Source;
  for (const Accuracy::Limit& l : m.accuracy.limits) o.input_limits.push_back(l.limit);
  o.parts = std::move(m.host_parts);
  o.submitted_region = [&m](const std::vector<chost::Conversion>& c) { return region_to_submit(m, c); };
  return o;
}

}  // namespace mrvlc::driver
