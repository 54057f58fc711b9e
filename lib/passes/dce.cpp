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

Status dce(Graph& graph, const PassContext&, bool& changed) {
  Rewriter rw(graph, "dce");
  changed = false;
  std::vector<NodeId> order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto& outputs = graph.node(*it).outputs;
    bool used =
        std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return graph.use_count(v) != 0; });
    if (used) continue;
    rw.erase(*it, "its result is never used");
    changed = true;
  }
  for (size_t i = 0; i < graph.value_slots(); ++i) rw.release_if_unused(ValueId(i));
  return {};
}

}  // namespace mrvlc::passes
