// Values in front of operators that hide errors: a Sigmoid that is 1 for all inputs that were tried shows no
// error, and for others it does.
#pragma once
#include <vector>

#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

struct Front {
  size_t output = 0;  // by position in graph.outputs()
  ir::ValueId value;  // floats
  double slope = 1;   // how much larger an error can be behind it, at most
};

// Of outputs that are nothing but moved, scaled or selected elements behind saturating operators (Sigmoid,
// Tanh, Softmax, Clip) or selecting ones (ArgMax, TopK, comparisons). No output has two of one value.
std::vector<Front> fronts_of(const ir::Graph& graph);

}  // namespace mrvlc::driver
