// How each primitive is cut over tiles: least cycles of its own work and of what tiles must send each other.
#pragma once
#include <vector>

#include "cut.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

std::vector<Cut> choose_cuts(const Program& program, const target::Machine& machine, uint32_t tiles);

// Cycles of the engines for the largest part of a cut.
double work_cycles(const Primitive& primitive, const Cut& cut, const target::Machine& machine);

}  // namespace mrvlc::accel
