// Channels between layers are scaled so that their ranges become alike: one scale for a tensor then suits all
// of them (Nagel et al., "Data-free quantization through weight equalization and bias correction", 2019, with
// the ranges that were seen in place of weights', as Xiao et al., "SmoothQuant", 2022, have it).
#pragma once
#include <map>

#include "observe.h"
#include "product.h"

namespace mrvlc::quantize {

// Weights and biases of layers are divided by a factor for each channel, those of the layers that read it
// multiplied. In between may be what lets positive factors pass: Relu, LeakyRelu, pools, additions of tensors
// that get the same factors. By layer that reads: the largest factor, or its inverse.
Result<std::map<ir::NodeId, double>> equalise(ir::Graph& graph, const Plan& plan,
                                              const std::vector<Sample>& samples, const Progress& progress);

}  // namespace mrvlc::quantize
