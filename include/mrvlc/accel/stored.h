// Which activations a region keeps in memory, and as what: every one of them is rounded to that.
#pragma once
#include "mrvlc/backend/backend.h"

namespace mrvlc::accel {

// Inputs of the region, then results in the order of its layers. What operators of a layer hand on within it
// is not stored.
std::vector<backend::StoredValue> stored_values(const ir::Graph& graph, const partition::Region& region);

}  // namespace mrvlc::accel
