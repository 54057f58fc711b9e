// A part of a graph as a graph of its own.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::ir {

// Copies `nodes`, live ones of the graph without bodies, producers before users, with the constants they
// read, whose bytes are shared. `inputs` are all other values that they read, `outputs` some of what they
// make: the part's inputs and outputs, in this order. Names, types, order and expression ids are the graph's.
Graph part_of(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<ValueId>& inputs,
              const std::vector<ValueId>& outputs);

}  // namespace mrvlc::ir
