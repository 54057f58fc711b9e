// A smaller graph made of a graph.
#pragma once
#include <functional>
#include <map>
#include <set>

#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

struct Part {
  std::set<ir::NodeId> without;                // nodes that are left out; what they made becomes inputs
  std::map<ir::ValueId, ir::ValueId> instead;  // values that are read in the place of others
  std::set<ir::ValueId> not_outputs;           // though they are outputs
  // Other inputs and constants; null: as they are. Types of results are inferred then.
  std::function<TensorType(const ir::Value&)> input;
  std::function<Tensor(const ir::Value&)> constant;
};

// Outputs are those of the graph, and what no node of the part reads. Errors: those of inference; MRV1010:
// nothing is left.
Result<ir::Graph> make_part(const ir::Graph& graph, const Part& part);

}  // namespace mrvlc::driver
