// Weights become integers layer by layer, all samples in step: each layer's are rounded for what it reads
// from the layers of integers before it.
#pragma once
#include "mrvlc/quantize/quantize.h"
#include "observe.h"
#include "weights.h"

namespace mrvlc::quantize {

struct RoundedLayer {
  IntegerWeights weights;
  bool learned = false;
};

// What layers read: results of the layers of integers in front of them, or of floats, each layer by itself.
enum class InFront : uint8_t { Integers, Floats };

// By layer of the plan; `affines` by group.
Result<std::vector<RoundedLayer>> round_layers(const ir::Graph& graph, const Plan& plan,
                                               const std::vector<Affine>& affines,
                                               const std::vector<Sample>& samples, const Options& options,
                                               InFront in_front = InFront::Integers);

}  // namespace mrvlc::quantize
