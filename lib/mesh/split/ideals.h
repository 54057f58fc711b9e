// The best contiguous split, where few enough sets of groups can come first.
#pragma once
#include "split/graph.h"

namespace mrvlc::mesh {

// The device of each group; every accelerator has what lies between two sets that are closed under operands.
// Empty: there are too many such sets, groups depend on each other in a circle, or nothing fits.
std::vector<uint32_t> best_contiguous(const SplitGraph& graph);

}  // namespace mrvlc::mesh
