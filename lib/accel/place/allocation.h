// Places of tensors and workspaces, and the room that is kept for what each step must have fetched.
#pragma once
#include "place/occupancy.h"
#include "place/placement.h"

namespace mrvlc::accel {

// A primitive's steps [first, last], and the room at the top that its fetches need.
struct FetchRoom {
  int64_t first = 0, last = 0, bytes = 0;
};

struct Allocation {
  Occupancy taken, reserved;   // without and with that room
  std::vector<int64_t> ahead;  // by step: bytes of that room
  int64_t peak = 0, peak_bound = 0;
};

// Steps' worth of fetches that there shall be room for at once, and how many bytes at least.
struct FetchShare {
  int steps_ahead = 2;
  int64_t least = 0;
};

// Sets `start` and `address` of items that no fetch fills. `shortage` and `short_bytes` of `failed` are set
// where there is no room.
std::optional<Allocation> allocate(TileProgram& program, const target::Machine& machine,
                                   const FetchShare& share, PlacementResult& failed);

}  // namespace mrvlc::accel
