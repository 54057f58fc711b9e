// Checks the IR's invariants: ids in range, users and producers agree, no use of erased nodes, no cycle,
// unique names, attribute kinds as the schema says, lineage present. Run after every pass that changed
// something.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::ir {

Status verify(const Graph& graph);

}  // namespace mrvlc::ir
