// Orders in which the instructions of a section may be looked at.
#pragma once
#include <vector>

#include "mrvlc/sim/timing.h"

namespace mrvlc::sim {

// By start time, then index.
std::vector<uint32_t> by_start(const Timing& timing);

}  // namespace mrvlc::sim
