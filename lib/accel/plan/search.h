// How each primitive is cut over tiles: least cycles of its own work and of what tiles must send each other.
#pragma once
#include <vector>

#include "mrvlc/target/machine.h"
#include "plan/cut.h"

namespace mrvlc::accel {

// What memory is worth while DDR is the bottleneck, in cycles a byte of a tile: of tensors, and of weights
// that lie there ahead of their use.
struct Prices {
  double tensors = 0, weights = 0;  // of room
  double send = 60;                 // cycles of having to send anything at all
  // What does not fit a tile's memory goes through DDR, and a cut costs that; else it is as if all fitted.
  bool streaming = false;
  // Parts of one tensor that lie too far apart in a tile for one window cost as much as DDR, however they are
  // cut.
  bool compact = false;
};
std::vector<Cut> choose_cuts(const Program& program, const target::Machine& machine, uint32_t tiles,
                             const Prices& price);
// Whether weights that could lie on chip would save time: they do not all fit, and DDR matters. 0 to 1.
double room_matters(const Program& program, const target::Machine& machine, uint32_t tiles);

// Cycles of the engines for the largest part of a cut.
double work_cycles(const Primitive& primitive, const Cut& cut, const target::Machine& machine);

}  // namespace mrvlc::accel
