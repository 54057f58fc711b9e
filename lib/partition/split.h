// Regions that fit the machine's limits on layers and ports, and those of constraints.
#pragma once
#include "placement.h"

namespace mrvlc::partition {

// Cuts layers, given in an order of execution, into as few consecutive regions as the machine's limits on
// layers and on inputs and outputs of a binary ask for (taking as many layers as possible each time), and
// fills in inputs and outputs. `constraints` by node: a region holds no more layers than any of its nodes
// admits. Consecutive cuts keep every region convex. No region for no layers.
std::vector<Region> split_region(const ir::Graph& graph, std::vector<Layer> layers,
                                 const target::Machine& machine,
                                 const std::vector<NodeConstraints>& constraints);

}  // namespace mrvlc::partition
