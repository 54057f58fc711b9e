// Layers with their cycles and ONNX nodes, and where each node runs, from the files of an output folder.
#include "diff/side.h"

#include <algorithm>

#include "model/placement_table.h"
#include "output/code_index.h"
#include "profile/simulated.h"

namespace mrvlc::driver {
namespace {

// By region and layer, the names of the ONNX nodes that a layer computes.
using LayerNodes = std::map<std::pair<uint32_t, uint32_t>, std::set<std::string>>;

LayerNodes layer_nodes(const idmap::Map& map) {
  std::map<std::string_view, const std::string*> names;
  for (const idmap::Source& s : map.sources) {
    const std::string* const shown = s.outputs.empty() ? &s.id : &s.outputs[0];
    names[s.id] = s.name.empty() ? shown : &s.name;
  }
  std::map<uint32_t, std::set<std::string>> of_expression;
  for (const idmap::Expression& e : map.expressions)
    for (const std::string& s : e.sources)
      if (const auto name = names.find(s); name != names.end())
        of_expression[e.expr_id].insert(*name->second);
  LayerNodes out;
  for (const idmap::Layer& l : map.layers)
    for (const uint32_t e : l.exprs) out[{l.region, l.layer}].merge(std::set<std::string>(of_expression[e]));
  return out;
}

std::vector<DiffLayer> layers_of(const std::vector<report::Region>& regions, const idmap::Map& map) {
  LayerNodes nodes = layer_nodes(map);
  std::vector<DiffLayer> out;
  for (const report::Region& region : regions)
    for (const report::Layer& l : region.layers)
      out.push_back({l.operators, l.kind, main_bound_key(l), nodes[{region.id, l.number}],
                     static_cast<int64_t>(l.cycles),
                     static_cast<int64_t>(l.ddr_read_bytes + l.ddr_write_bytes)});
  return out;
}

std::map<std::string, DiffNode> nodes_of(const PlacementTable& placement) {
  std::map<std::string, DiffNode> out;
  for (const PlacementEntry& n : placement.nodes)
    out.emplace(n.shown_name().empty() ? n.id : n.shown_name(),
                DiffNode{n.op_type, n.where, n.target.value_or(""), n.rule.value_or(""), n.reason});
  return out;
}

// Binaries of a target that tells no times are not of ours.
bool tells_times(const Report& report) {
  return !report.regions.empty() &&
         std::ranges::none_of(report.regions, [](const ReportedRegion& r) { return r.cycles == 0; });
}

}  // namespace

Result<DiffSide> read_side(const std::filesystem::path& out,
                           const std::vector<std::filesystem::path>& target_dirs) {
  DiffSide side;
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  side.given = std::move(folder.given);
  MRVLC_ASSIGN(side.report, folder.read<Report>("report.json"));
  MRVLC_ASSIGN(const auto placement, folder.read<PlacementTable>("placement.json"));
  MRVLC_ASSIGN(const auto map, folder.read<idmap::Map>("idmap.json"));
  side.nodes = nodes_of(placement);
  if (!tells_times(side.report)) return side;
  MRVLC_ASSIGN(const Simulation simulated, simulate(folder, side.report, index_of(map), {target_dirs}));
  side.layers = layers_of(simulated.regions, map);
  return side;
}

}  // namespace mrvlc::driver
