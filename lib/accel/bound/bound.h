// The least cycles any schedule needs on this machine, from facts of the layers alone; derived in
// docs/performance.md.
#pragma once
#include "lower/lowering.h"

namespace mrvlc::accel {

// What a layer cannot do without. Cycles are those of one tile working alone: any split over tiles takes at
// least their sum divided by the number of tiles.
struct LayerFacts {
  int64_t pod_cycles = 0;  // products at the peak rate, or weight blocks at the rate they can be loaded
  int64_t drain_cycles =
      0;  // results of the last 16 channels of an instruction: nothing of it overlaps with them
  int64_t pe_cycles = 0;
  int64_t weight_bytes = 0;  // of constants that no later layer multiplies with
  // Of matrix and vector unit: what cannot begin before every byte of the first input is there.
  int64_t pod_after_input = 0, pe_after_input = 0;
};

struct RegionFacts {
  std::vector<LayerFacts> layers;             // in order of execution
  int64_t input_bytes = 0, output_bytes = 0;  // that must cross DDR once
  int64_t first_bytes = 0;                    // of the first input
};

RegionFacts region_facts(const ir::Graph& graph, const partition::Region& region,
                         const target::Machine& machine);

// At least one tile.
uint64_t lower_bound(const RegionFacts& facts, const target::Machine& machine, uint32_t tiles);

// Fills layers, macs and lower_bound_cycles.
void fill_bounds(CompiledRegion& out, const ir::Graph& graph, const partition::Region& region,
                 const Lowered& lowered, const target::Machine& machine, uint32_t tiles);

}  // namespace mrvlc::accel
