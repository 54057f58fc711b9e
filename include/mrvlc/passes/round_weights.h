// Rounds constant weights of chosen layers to fp16 so that errors cancel within each output channel.
#pragma once
#include <functional>

#include "mrvlc/ir/graph.h"

namespace mrvlc::passes {

// Conv, Gemm and MatMul with constant float32 weights for which `chosen` holds. Along each output channel's
// weights, in memory order, the rounding error of one is carried into the next (error diffusion, Floyd and
// Steinberg 1976, in one dimension). Activations behind a ReLU are positive and neighbouring ones alike, so
// what counts is the sum of the errors, and carrying keeps it below one rounding instead of letting it grow
// with the square root of the count. Zeros stay zeros. Weights that are fp16 values already do not change.
void round_weights(ir::Graph& graph, const std::function<bool(const ir::Node&)>& chosen);

}  // namespace mrvlc::passes
