// Finds pairs of conflicting instructions that nothing but luck keeps in program order: neither their queue
// nor a chain of waits. Bytes are exact; the pair need not have collided in simulated time.
#pragma once
#include <vector>

#include "mrvlc/sim/simulator.h"

namespace mrvlc::sim {

inline constexpr size_t kMaxHazards = 16;

// Appends to `hazards`, up to kMaxHazards in all, at most one for a pair of instructions.
void find_hazards(const isa::Binary& binary, Section section, const std::vector<isa::Instruction>& program,
                  const Timing& timing, std::vector<Hazard>& hazards);

}  // namespace mrvlc::sim
