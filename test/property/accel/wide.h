// Which values are stored as float32: docs/arithmetic.md, "Wide values".
#pragma once
#include <set>

#include "mrvlc/partition/partition.h"

namespace mrvlc::accel_random {

std::set<ir::ValueId> wide_values(const ir::Graph& graph, const partition::Region& region);
// A constant operand of the vector unit is float32 when float16 does not fit.
bool fits_half(const Tensor& constant);

}  // namespace mrvlc::accel_random
