// Sources of nodes that were made of others, followed through what is gone.
#include "mrvlc/ir/lineage.h"

#include <algorithm>
#include <unordered_set>

#include "mrvlc/ir/pass_names.h"

namespace mrvlc::ir {

std::vector<SourceId> sources_of(const Graph& graph, std::span<const NodeId> nodes) {
  std::vector<SourceId> found;
  std::vector<NodeId> open(nodes.begin(), nodes.end());
  std::unordered_set<uint32_t> seen;  // a chain of erased nodes may come together again
  while (!open.empty()) {
    const Lineage& lineage = graph.lineage(open.back());
    const uint32_t at = open.back().index();
    open.pop_back();
    found.insert(found.end(), lineage.sources.begin(), lineage.sources.end());
    if (!lineage.sources.empty() || !seen.insert(at).second) continue;
    open.insert(open.end(), lineage.from.begin(), lineage.from.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<Gone> gone_sources(const Graph& graph) {
  std::vector<Gone> of_source(graph.sources().size()), of_node(graph.node_slots());
  const auto join = [](Gone& into, const Gone& g) {
    if (!into.newest.valid() || (g.newest.valid() && into.newest.index() < g.newest.index()))
      into.newest = g.newest;
    into.folded = into.folded || g.folded;
  };
  // What a node was made of is older than it: from the newest down, each has heard of all that came of it.
  for (size_t i = graph.node_slots(); i-- > 0;) {
    const Lineage& lineage = graph.lineage(NodeId(i));
    // What became of the ONNX node behind a fence is said by nodes of its own.
    if (!lineage.erased_because.empty() && lineage.pass != kFence)
      join(of_node[i], {NodeId(i), lineage.folded});
    for (NodeId f : lineage.from) join(of_node[f.index()], of_node[i]);
    for (SourceId s : lineage.sources) join(of_source[s.index()], of_node[i]);
  }
  return of_source;
}

}  // namespace mrvlc::ir
