// The order of a section's instructions. The fetch unit hands them out in program order, and one that finds
// its queue full holds up all behind it, of all tiles. So they stand in the order in which they start where
// queues have no end.
#pragma once
#include "code/emit.h"

namespace mrvlc::accel {

struct Ordered {
  double cycles = 0;            // as the simulator sees it; of two machines the geometric mean
  std::vector<uint32_t> order;  // of the draft's instructions; empty: as they are
};
// The order of fewest cycles, of that of the draft and those by start times. `machines`: one or two.
Result<Ordered> best_order(const Draft& draft, const std::vector<target::Machine>& machines);

// Queues keep their order, waits name earlier instructions, and what takes over a range of on-chip memory
// comes after all that held it. `starts`: of each instruction on a machine that has them all in their queues.
std::vector<uint32_t> interleaved(const Draft& draft, const std::vector<uint64_t>& starts,
                                  const target::Machine& machine);

}  // namespace mrvlc::accel
