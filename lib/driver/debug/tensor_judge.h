// Whether another runtime computed a tensor right: from the model's inputs on, and by its own node alone.
#pragma once
#include <functional>
#include <optional>

#include "mrvlc/driver/compare.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

// With the reference's operands on the way: floats may be off by 1e-3 (of 16 bits 5e-3) of their magnitude
// plus the tensor's largest, or plus 1 where that is larger.
Difference judge_from_inputs(const Tensor& theirs, const Tensor& reference);

// The other runtime's value of an operand; null where it is not known.
using Operands = std::function<const Tensor*(ir::ValueId)>;

// With the other runtime's own operands, one node computed anew: nothing is carried along, so floats may be
// off by 1e-4 (of 16 bits 5e-3) of the tensor's largest magnitude. That finds a weight that is wrong by a few
// percent in a sum of thousands. nullopt: operands are missing, the node rounds or has a body, the result
// holds no floats.
std::optional<Difference> judge_alone(const ir::Graph& graph, const ir::Node& node, ir::ValueId result,
                                      const Tensor& theirs, const Operands& operands);

}  // namespace mrvlc::driver
