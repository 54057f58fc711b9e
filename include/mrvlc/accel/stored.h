// Which activations a region keeps in memory, and as what: every one of them is rounded to that.
#pragma once
#include "mrvlc/accel/accel.h"

namespace mrvlc::accel {

struct StoredValue {
  ir::ValueId value;
  isa::DataType type = isa::DataType::F16;
};

// Inputs of the region, then results in the order of its layers. What operators of a layer hand on within it
// is not stored.
std::vector<StoredValue> stored_values(const ir::Graph& graph, const partition::Region& region);

}  // namespace mrvlc::accel
