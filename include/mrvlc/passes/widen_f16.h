// Computation in f16 and bf16 moved to f32, for parts of the graph that run where there is no such
// arithmetic.
#pragma once
#include <functional>

#include "mrvlc/ir/rewriter.h"

namespace mrvlc::passes {

// Nodes for which `on_cpu` holds read and write f32 instead of f16 and bf16. Where they meet other nodes,
// or such an input or output of the graph, Cast nodes are inserted; those belong to the CPU and have ids >=
// graph.node_slots() before the call (so do nodes made anew because an attribute named the type). Graph
// inputs and outputs keep their types. `on_cpu` is asked only about nodes that were there before.
Status widen_f16(ir::Graph& graph, const std::function<bool(const ir::Node&)>& on_cpu, bool& changed);

}  // namespace mrvlc::passes
