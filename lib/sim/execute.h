// The functional simulation of a section.
#pragma once
#include <span>

#include "memory.h"
#include "mrvlc/isa/isa.h"

namespace mrvlc::sim {

// Both return the flags that the section raised (sim::Flag).
// In program order, which is what the program means.
uint32_t execute_in_order(std::span<const isa::Instruction> program, Memory& memory);
// On up to `threads` threads, in an order that queues and waits allow: for a section that can finish and has
// no hazards, memory ends up with the same bytes.
uint32_t execute_in_parallel(std::span<const isa::Instruction> program, Memory& memory, unsigned threads);

}  // namespace mrvlc::sim
