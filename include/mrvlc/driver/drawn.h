// Models that draw random numbers: ONNX does not define the generator, so their expected outputs are one draw
// of many.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

bool is_drawn(const ir::Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected);

// What the outputs cannot be. Type and shape are those of the expected; where these are 0 and 1 alone so are
// the outputs, and a probability of 0 or 1 leaves no choice; dropout yields 0 or the scaled input, and a mask
// that says which; anything else is finite.
std::string drawn_difference(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& actual, const std::vector<Tensor>& expected);

}  // namespace mrvlc::driver
