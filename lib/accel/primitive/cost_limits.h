// How large a region may get. What can be said from shapes is asked before the work; the rest is counted
// while it is made, so that nothing grows beyond.
#pragma once
#include "mrvlc/accel/layer_cost.h"
#include "primitive/program.h"

namespace mrvlc::accel {

inline constexpr int64_t kMostInstructions = accel::kRegionInstructions;
inline constexpr int64_t kMostPrimitives = int64_t{1} << 14;

// Device memory, weights, instructions of all layers together. Names the layer that asks for most.
Status check_cost(const ir::Graph& graph, const partition::Region& region, const target::Machine& machine);
// Inputs, outputs and scratch memory as they were placed.
Status check_device_memory(int64_t bytes);

// Output pixels that one instruction may make, of `channels` channels; 0: not even one.
int64_t pixels_at_once(const WindowOp& op, int64_t channels, const target::Machine& machine);

Diag too_many_instructions();
Diag too_many_primitives();

}  // namespace mrvlc::accel
