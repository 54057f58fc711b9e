// How much of on-chip memory is held at once.
#pragma once
#include <span>

#include "mrvlc/accel/accel.h"

namespace mrvlc::accel {

// Most bytes that uses hold at one instruction of main; a byte that two of them share counts once. Tiles hold
// the same ranges.
int64_t live_peak(std::span<const backend::MemoryUse> uses);

}  // namespace mrvlc::accel
