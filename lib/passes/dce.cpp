// dce
//   before  %1 = Relu(%x)    %2 = Exp(%x)    output %2
//   after   %2 = Exp(%x)     output %2
// Preconditions: no output of the node is read, by a node or as an output of the model.
// Safe because operators have no effects but their results. Users go before producers, so one sweep is
// enough; constants that nothing reads give their bytes back.
#include <algorithm>

#include "passes.h"
#include "util.h"

namespace mrvlc::passes {

namespace {

bool is_unused(const Graph& g, const Node& n) {
  return std::none_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) { return g.use_count(v) != 0; });
}

bool erase_unused(Graph& graph, Rewriter& rw) {
  if (!has_anchor(graph, [&](const Node& n) { return is_unused(graph, n); })) return false;
  const std::vector<NodeId> order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (is_unused(graph, graph.node(*it))) rw.erase(*it, "its result is never used");
  }
  return true;
}

}  // namespace

Status dce(Graph& graph, const PassContext&, bool& changed) {
  Rewriter rw(graph, "dce");
  changed = erase_unused(graph, rw);
  for (size_t i = 0; i < graph.value_slots(); ++i) rw.release_if_unused(ValueId(i));
  return {};
}

}  // namespace mrvlc::passes
