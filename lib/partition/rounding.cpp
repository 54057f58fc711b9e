// Values that are rounded to integers next must not come from fp16: an error of a thousandth becomes one of a
// whole unit. This concerns quantised networks written with QuantizeLinear, and networks of integers written
// in floats. What is between two roundings stays on the CPU; products further up, whose own results are not
// rounded, do not.
#include <algorithm>

#include "mrvlc/ops/op.h"
#include "placement.h"

namespace mrvlc::partition {
void find_roundings(Placement& p) {
  std::vector<ir::NodeId> next(p.graph.node_slots());  // the node that rounds a result, by the node it is of
  for (auto it = p.order.rbegin(); it != p.order.rend(); ++it) {
    const ir::Node& node = p.graph.node(*it);
    for (ir::ValueId out : node.outputs) {
      for (ir::NodeId user : p.graph.value(out).users) {
        const ir::Node& reader = p.graph.node(user);
        // Sums of products are where values come from; everything else hands on what it was given.
        if (ops::rounds_to_integers(p.graph, reader)) {
          next[node.id.index()] = user;
        } else if (!ops::traits(reader).sums_products && next[user.index()].valid()) {
          next[node.id.index()] = next[user.index()];
        }
      }
    }
    // What rounds must be given its operand as it is, too.
    if (ops::rounds_to_integers(p.graph, node)) next[node.id.index()] = node.id;
    if (!next[node.id.index()].valid()) continue;
    const ir::Node& rounder = p.graph.node(next[node.id.index()]);
    p.constraints[node.id.index()].rounded_by =
        fmt::format("'{}' ({})", printable(rounder.name), rounder.op->name);
  }
}

}  // namespace mrvlc::partition
