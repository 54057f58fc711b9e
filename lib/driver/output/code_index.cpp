// The code index of layers and instruction ranges, read from idmap.json or taken from a compile in memory.
#include "output/code_index.h"

#include <algorithm>

namespace mrvlc::driver {

std::optional<backend::Section> section_of(std::string_view name) {
  const auto at = std::ranges::find(backend::kSectionNames, name);
  if (at == backend::kSectionNames.end()) return std::nullopt;
  return static_cast<backend::Section>(at - backend::kSectionNames.begin());
}

backend::CodeIndex index_of(const idmap::Map& map) {
  backend::CodeIndex index;
  const idmap::Labels labels(map);
  for (const idmap::Layer& l : map.layers) {
    report::Layer layer;
    layer.number = l.layer;
    layer.kind = l.kind;
    layer.rule = l.rule;
    for (const uint32_t e : l.exprs) layer.operators += (layer.operators.empty() ? "" : " + ") + labels.of(e);
    index.add(l.region, std::move(layer));
  }
  for (const idmap::Instructions& i : map.instructions)
    if (const auto section = section_of(i.section))
      index.add(i.region, {*section, i.begin, i.end, i.layer, i.expr_id});
  return index;
}

backend::CodeIndex index_of(const CompiledModel& m) {
  backend::CodeIndex index;
  for (const auto& [graph, region] : all_regions(m.model.graph, m.partition)) {
    for (const partition::Layer& from : region->layers) {
      report::Layer layer;
      layer.number = static_cast<uint32_t>(&from - region->layers.data());
      layer.kind = name(from.kind);
      layer.rule = from.rule;
      for (ir::NodeId n : from.nodes)
        layer.operators += (layer.operators.empty() ? "" : " + ") + idmap::label(*graph, n);
      index.add(region->id, std::move(layer));
    }
    for (const backend::CodeRange& i : m.regions[region->id].instructions)
      index.add(region->id, {i.section, i.begin, i.end, i.layer, graph->expr_id(i.expr)});
  }
  return index;
}

}  // namespace mrvlc::driver
