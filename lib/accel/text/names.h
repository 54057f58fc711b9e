// How values, expressions and stored tensors are called in the texts of stages: as in the IR's text.
#pragma once
#include <map>

#include "primitive/program.h"

namespace mrvlc::accel {

struct Names {
  std::map<ir::ValueId, std::string> values;
  std::map<ir::NodeId, std::string> exprs;  // by the first value an expression makes

  std::string expr(ir::NodeId node) const;
};

// Of all that the program names.
Names names_of(const ir::Graph& graph, const Program& program);

// By buffer: "weights", the value it was made for; "$7" for the seventh, which stands for no value, "%x$7"
// where an earlier one stands for the same (a stripe of it).
std::vector<std::string> buffer_names(const Program& program, const Names& names);

}  // namespace mrvlc::accel
