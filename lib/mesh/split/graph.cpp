// Reads a graph of dnn-partitioning.
#include "split/graph.h"

#include <algorithm>
#include <map>

#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/json_fields.h"

namespace mrvlc::mesh {
namespace {

using json::Json;

constexpr uint32_t kMostDevices = 4096;

Diag wrong(std::string_view why) {
  return make_diag<DiagCode::MRV1309>(why);
}

// A finite number of 0 or more; the files have truths for some, too.
bool number(const Json& object, const char* key, double& v) {
  if (!object.is_object() || !object.contains(key)) return false;
  const Json& j = object.at(key);
  if (!j.is_number() && !j.is_boolean()) return false;
  v = j.is_boolean() ? (j.get<bool>() ? 1 : 0) : j.get<double>();
  return v >= 0 && v <= 1e300;
}

bool count(const Json& object, const char* key, uint32_t& n) {
  double v = 0;
  if (!number(object, key, v) || v > kMostDevices) return false;
  n = static_cast<uint32_t>(v);
  return true;
}

void sort_once(std::vector<uint32_t>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

class Reader {
 public:
  Result<SplitGraph> run(const Json& j) {
    if (!count(j, "maxFPGAs", g_.accelerators) || !count(j, "maxCPUs", g_.cpus) ||
        !number(j, "maxSizePerFPGA", g_.room) || g_.devices() == 0 || !j.contains("nodes") ||
        !j.at("nodes").is_array() || !j.contains("edges") || !j.at("edges").is_array())
      return wrong("it needs maxFPGAs, maxCPUs, maxSizePerFPGA, nodes and edges");
    for (const Json& n : j.at("nodes"))
      if (!node(n)) return wrong("a node has no id of its own, or no times");
    for (const Json& e : j.at("edges"))
      if (!edge(e)) return wrong("an edge does not lead from node to node, or has no cost");
    for (SplitNode& n : g_.nodes) sort_once(n.readers), sort_once(n.operands);
    if (g_.nodes.empty()) return wrong("it has no nodes");
    return std::move(g_);
  }

 private:
  bool node(const Json& j) {
    SplitNode n;
    double supported = 1, id = 0;
    if (!number(j, "id", id) || !number(j, "cpuLatency", n.cpu) || !number(j, "fpgaLatency", n.accelerator) ||
        !number(j, "size", n.size) || !number(j, "supportedOnFpga", supported) || id > 1e15)
      return false;
    n.id = static_cast<int64_t>(id);
    n.supported = supported != 0;
    const auto index = static_cast<uint32_t>(g_.nodes.size());
    if (!numbers_.emplace(n.id, index).second) return false;
    // A class that is null is one as well.
    const std::string colour =
        j.contains("colorClass") ? j.at("colorClass").dump() : "node " + std::to_string(n.id);
    const auto [found, is_new] = colours_.emplace(colour, static_cast<uint32_t>(g_.groups.size()));
    if (is_new) g_.groups.emplace_back();
    n.group = found->second;
    g_.groups[n.group].push_back(index);
    g_.nodes.push_back(std::move(n));
    return true;
  }
  bool edge(const Json& j) {
    double from = 0, to = 0, cost = 0;
    if (!number(j, "sourceId", from) || !number(j, "destId", to) || !number(j, "cost", cost) || from > 1e15 ||
        to > 1e15)
      return false;
    const auto a = numbers_.find(static_cast<int64_t>(from)), b = numbers_.find(static_cast<int64_t>(to));
    if (a == numbers_.end() || b == numbers_.end()) return false;
    g_.nodes[a->second].readers.push_back(b->second);
    g_.nodes[b->second].operands.push_back(a->second);
    g_.nodes[a->second].cost = cost;
    return true;
  }

  SplitGraph g_;
  std::map<int64_t, uint32_t> numbers_;
  std::map<std::string, uint32_t> colours_;
};

}  // namespace

Result<SplitGraph> read_split_graph(const std::string& text) {
  const Json j = Json::parse(text, nullptr, false);
  if (j.is_discarded() || !j.is_object()) return wrong("it is no JSON object");
  return Reader().run(j);
}

}  // namespace mrvlc::mesh
