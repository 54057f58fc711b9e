// Normalisations written out in arithmetic, as fuse-norms looks for them.
#pragma once
#include "written_out.h"

namespace mrvlc::passes {

using Axes = std::vector<int64_t>;

// v + epsilon: the variance of x, or the mean of its squares.
struct Moments {
  ValueId x;
  bool centred = false;
  Axes axes;
  float epsilon = 0;
  Nodes nodes;
};

// What a node makes of the rows of x.
struct Norm {
  Moments of;
  ValueId scale, bias;  // constants; invalid: none
  Nodes nodes;          // the last makes the result
};

// The formula whose result, scaled and shifted by what is inside of it, the node makes. Types and who else
// reads its values are not looked at.
std::optional<Norm> norm_formula(const Graph& graph, const Node& node);

}  // namespace mrvlc::passes
