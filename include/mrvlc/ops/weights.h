// How the weights of products are laid out, for whoever scales or rounds them.
#pragma once
#include <optional>

#include "mrvlc/ir/graph.h"
#include "mrvlc/tensor/storage.h"

namespace mrvlc::ops {

// Of Conv, ConvTranspose, and of Gemm and MatMul with a matrix on the right, whose second operand has the
// shape `weights`; nullopt: the node is none of these.
std::optional<WeightLayout> weight_layout(const ir::Node& node, const Shape& weights);

}  // namespace mrvlc::ops
