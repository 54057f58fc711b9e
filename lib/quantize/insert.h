// QuantizeLinear and DequantizeLinear into the graph.
#pragma once
#include <map>

#include "observe.h"
#include "weights.h"

namespace mrvlc::quantize {

// A convolution or Gemm without a bias gets one of zeros, for what rounding moves the mean by. What layers
// became, where they are new nodes.
std::map<ir::NodeId, ir::NodeId> add_biases(ir::Graph& graph, const Plan& plan);

// Pairs behind every value of the plan; what reads it, reads the second of them.
void insert_activations(ir::Graph& graph, const Plan& plan, const std::vector<Affine>& affines);

// The layer reads its weights as `type` and its bias as int32. `data` is what its input is stored by.
void insert_weights(ir::Graph& graph, const Layer& layer, const IntegerWeights& weights, ElementType type,
                    const Affine& data);

}  // namespace mrvlc::quantize
