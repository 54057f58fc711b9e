// Networks of integers for tests, as text of the IR.
#pragma once
#include <random>
#include <string>

#include "mrvlc/ir/graph.h"

namespace mrvlc::mesh_test {

using Random = std::mt19937;

ir::Graph graph_of(const std::string& body);
// A convolution with random sizes, strides, pads, dilations and groups, a pool, and a sum of two branches.
ir::Graph random_network(Random& random);
// A convolution of 16 x 16 pixels with 4 channels and a sum with its operand.
ir::Graph small_network();

}  // namespace mrvlc::mesh_test
