// Which nodes a pattern of --cpu, --accel or --border names.
#pragma once
#include <string_view>

#include "mrvlc/ir/graph.h"

namespace mrvlc::partition {

// A node answers to its own name and operator.
bool answers_itself(const ir::Node& node, std::string_view pattern);
// An ONNX node answers to its name, its operator and its id ("main/17"), whatever became of it.
bool answers(const ir::Source& source, std::string_view pattern);
// A node also answers for the ONNX nodes it was made of.
bool answers(const ir::Graph& graph, const ir::Node& node, std::string_view pattern);

}  // namespace mrvlc::partition
