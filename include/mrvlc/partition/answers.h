// Which nodes a selector names: docs/placement.md.
#pragma once
#include <string_view>

#include "mrvlc/ir/graph.h"

namespace mrvlc::partition {

// What the prefix says is compared; without one names, operators and ids are.
struct Selector {
  enum class Kind : uint8_t { Any, Name, Operator, Id, Tensor, Rule } kind = Kind::Any;
  std::string_view text;
};
Selector read_selector(std::string_view text);
// Whether the text is one name, and no pattern of several.
bool is_exact(std::string_view text);

// A node answers to its own name and operator.
bool answers_itself(const ir::Node& node, std::string_view selector);
// An ONNX node answers to its name, its operator, its id ("main/17") and its results, whatever became of it.
bool answers(const ir::Source& source, std::string_view selector);
// A node also answers for the ONNX nodes it was made of.
bool answers(const ir::Graph& graph, const ir::Node& node, std::string_view selector);

}  // namespace mrvlc::partition
