// What a layer costs those who compile and run it, estimated from shapes alone, before any of the work.
// Legality asks it (a layer beyond a limit stays on the CPU), and the back end for a region as a whole.
#pragma once
#include "mrvlc/partition/region.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

// Estimates from below, saturated at kCostCeiling: what exceeds a limit does so for certain.
struct LayerCost {
  int64_t device_bytes = 0;  // of DDR: inputs, results, and what lies between, without weights
  int64_t weight_bytes = 0;  // as packed for the matrix unit
  int64_t instructions = 0;
  int64_t copies = 0;   // pieces that a move, a resizing or a transposed convolution is cut into
  int64_t block = 0;    // bytes of on-chip memory that the smallest step of a window takes
  int64_t entries = 0;  // of tables by position: images of a batch, outputs of a resized dimension, phases
};
inline constexpr int64_t kCostCeiling = int64_t{1} << 60;

// Of one layer. A region may need kRegionInstructions; its device memory has the same limit as a layer's.
inline constexpr LayerCost kLayerLimits = {
    .device_bytes = int64_t{1} << 30,        // what the simulator holds (cost/limits.h)
    .weight_bytes = (int64_t{1} << 32) - 1,  // a 32-bit field of the container
    .instructions = int64_t{1} << 17,
    .copies = int64_t{1} << 12,
    .block = 0,  // of the machine: on-chip memory
    .entries = int64_t{1} << 20,
};
inline constexpr int64_t kRegionInstructions = int64_t{1} << 18;

// The layer's parameters must have been found legal.
LayerCost layer_cost(const ir::Graph& graph, const partition::Layer& layer, const target::Machine& machine);

}  // namespace mrvlc::accel
