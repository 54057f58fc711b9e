// Time and place on chip for every item of a tile program.
#pragma once
#include <optional>

#include "code/tile_program.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

// The first primitive at which memory was too short.
struct Shortage {
  uint32_t primitive = 0;
};

// Sets `start` and `address` of all items. Tensors and workspaces get their places first; then what is
// fetched from DDR fills the room between them, in the order of use, each piece as early as it has to be for
// DDR to keep up with the engines (estimated), or as memory permits.
// `fetch_share`: of memory, kept for what is fetched just ahead where tensors leave so much. Estimates the
// cycles of the whole program.
struct PlacementResult {
  std::optional<Shortage> shortage;
  double cycles = 0;
  int64_t short_bytes =
      0;  // what the fullest moment needs beyond the memory, at a shortage of room for what stays
  // Of tensors, workspaces and, where these leave no room of their own, what must have been fetched; and the
  // least that any placement needs for them.
  int64_t peak = 0, peak_bound = 0;
};
PlacementResult place(TileProgram& program, const target::Machine& machine, double fetch_share);

}  // namespace mrvlc::accel
