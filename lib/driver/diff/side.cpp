// Layers with their cycles and ONNX nodes, and where each node runs, from the files of an output folder.
#include "diff/side.h"

#include "mrvlc/support/file.h"

namespace mrvlc::driver {
namespace {

// Numbers of nodes change when a model is exported again; names mostly do not. A node without one is known by
// its first output.
std::string node_name(const Json& n) {
  if (n.at("name") != "") return n.at("name").get<std::string>();
  return n.at("outputs").empty() ? n.at("id").get<std::string>() : n.at("outputs")[0].get<std::string>();
}

// By region and layer, the names of the ONNX nodes that a layer computes.
using LayerNodes = std::map<std::pair<int64_t, int64_t>, std::set<std::string>>;

LayerNodes layer_nodes(const Json& map) {
  std::map<std::string, std::string> names;
  for (const Json& s : map.at("sources")) names[s.at("id").get<std::string>()] = node_name(s);
  std::map<int64_t, std::set<std::string>> of_expression;
  for (const Json& e : map.at("expressions"))
    for (const Json& s : e.at("sources")) of_expression[e.at("expr_id").get<int64_t>()].insert(names[s]);
  LayerNodes out;
  for (const Json& l : map.at("layers"))
    for (const Json& e : l.at("exprs"))
      out[{l.at("region").get<int64_t>(), l.at("layer").get<int64_t>()}].merge(
          std::set<std::string>(of_expression[e.get<int64_t>()]));
  return out;
}

std::vector<DiffLayer> layers_of(const Json& profile, const Json& map) {
  const LayerNodes nodes = layer_nodes(map);
  std::vector<DiffLayer> out;
  for (const Json& region : profile.at("regions")) {
    for (const Json& l : region.at("layers")) {
      const auto of = nodes.find({region.at("id").get<int64_t>(), l.at("layer").get<int64_t>()});
      out.push_back({l.at("operators"), l.at("kind"), l.at("bound"),
                     of == nodes.end() ? std::set<std::string>() : of->second, l.at("cycles").get<int64_t>(),
                     l.at("ddr_read_bytes").get<int64_t>() + l.at("ddr_write_bytes").get<int64_t>()});
    }
  }
  return out;
}

std::map<std::string, DiffNode> nodes_of(const Json& placement) {
  std::map<std::string, DiffNode> out;
  for (const Json& n : placement.at("nodes"))
    out.emplace(node_name(n), DiffNode{n.at("op_type"), n.at("where"), n.value("target", ""),
                                       n.value("rule", ""), n.value("reason", "")});
  return out;
}

// Binaries of a target that tells no times are not of ours.
bool tells_times(const Json& report) {
  for (const Json& r : report.at("regions"))
    if (r.at("cycles") == 0) return false;
  return !report.at("regions").empty();
}

}  // namespace

Result<DiffSide> read_side(const std::filesystem::path& out,
                           const std::vector<std::filesystem::path>& target_dirs) {
  DiffSide side;
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(const std::string manifest, read_file(out / "manifest.json"));
  side.manifest = Json::parse(manifest, nullptr, false);
  MRVLC_ASSIGN(side.report, folder.json("report.json"));
  MRVLC_ASSIGN(const Json placement, folder.json("placement.json"));
  MRVLC_ASSIGN(const Json map, folder.json("idmap.json"));
  MRVLC_TRY(folder.reading([&]() -> Result<std::string> {
    side.nodes = nodes_of(placement);
    if (!tells_times(side.report)) return std::string();
    ProfileOptions options;
    options.out = out;
    options.target_dirs = target_dirs;
    options.json = true;
    MRVLC_ASSIGN(std::string text, profile(options));
    side.layers = layers_of(Json::parse(text, nullptr, false), map);
    return text;
  }));
  return side;
}

}  // namespace mrvlc::driver
