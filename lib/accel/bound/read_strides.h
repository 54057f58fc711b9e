// Which images of a region are read at every s-th row and column alone, because all that follows are 1x1
// convolutions with a stride.
#pragma once
#include <map>

#include "mrvlc/partition/region.h"

namespace mrvlc::accel {

// Values with s > 1; whatever is computed of them elsewhere could be left out.
std::map<ir::ValueId, int64_t> read_strides(const ir::Graph& graph, const partition::Region& region);

}  // namespace mrvlc::accel
