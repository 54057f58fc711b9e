// Facts about shapes that are known at run time only.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::ops {

// The results' sizes depend on the data themselves, not only on operands that say what the shape is.
bool has_data_dependent_shape(const ir::OpSchema& op);
// Its function needs run-time shapes: an operand or result is not static, or an operand that decides about
// the shape is no constant.
bool has_open_shapes(const ir::Graph& graph, const ir::Node& node);

}  // namespace mrvlc::ops
