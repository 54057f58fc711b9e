// Search in windows of time around what is too high, with all else as it is.
#pragma once
#include "problem.h"

namespace mrvlc::alloc {

// Brings `layout` down to `goal`; false, and less may be too high than before, when that was not found.
bool repair(const Problem& problem, int64_t goal, Layout& layout, uint64_t& nodes, Budget& budget);

}  // namespace mrvlc::alloc
