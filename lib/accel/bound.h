// The least cycles any schedule needs on this machine, from facts of the layers alone: arithmetic at the peak
// rates, and weights and ports through the DDR channel, with at most the on-chip memory of all tiles filled
// ahead of time.
#pragma once
#include "lowering.h"

namespace mrvlc::accel {

// Fills layers, macs and lower_bound_cycles.
void fill_bounds(CompiledRegion& out, const ir::Graph& graph, const partition::Region& region,
                 const Lowered& lowered, const target::Machine& machine, uint32_t tiles);

}  // namespace mrvlc::accel
