// Which values are stored as float32: docs/arithmetic.md, "Wide values".
#pragma once
#include <set>

#include "mrvlc/partition/region.h"

namespace mrvlc::accel_random {

// Without regard to what is asked for.
std::set<ir::ValueId> wide_values(const ir::Graph& graph, const partition::Region& region);
// Activations that are float32 because they, or what they become, are asked to be exact: "Precision".
std::set<ir::ValueId> asked_values(const ir::Graph& graph, const partition::Region& region);
// A constant operand of the vector unit is float32 when float16 does not fit.
bool fits_half(const Tensor& constant);

}  // namespace mrvlc::accel_random
