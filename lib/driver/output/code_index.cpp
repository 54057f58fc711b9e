// The code index of layers and instruction ranges, read from idmap.json or taken from a compile in memory.
#include "output/code_index.h"

#include <algorithm>

namespace mrvlc::driver {

backend::CodeIndex index_of(const idmap::Json& map) {
  backend::CodeIndex index;
  const idmap::Labels labels(map);
  for (const Json& l : map.at("layers")) {
    report::Layer layer;
    layer.number = l.at("layer").get<uint32_t>();
    layer.kind = l.at("kind").get<std::string>();
    layer.rule = l.at("rule").get<std::string>();
    for (const Json& e : l.at("exprs")) {
      layer.operators += (layer.operators.empty() ? "" : " + ") + labels.of(e.get<uint32_t>());
    }
    index.add(l.at("region").get<uint32_t>(), std::move(layer));
  }
  for (const Json& i : map.at("instructions")) {
    const auto section =
        std::ranges::find(backend::kSectionNames, i.at("section").get_ref<const std::string&>());
    if (section == backend::kSectionNames.end()) continue;
    const auto at = static_cast<backend::Section>(section - backend::kSectionNames.begin());
    index.add(i.at("region").get<uint32_t>(),
              {at, i.at("begin").get<uint32_t>(), i.at("end").get<uint32_t>(), i.at("layer").get<uint32_t>(),
               i.at("expr_id").get<uint32_t>()});
  }
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
