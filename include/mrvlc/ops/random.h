// Operators that draw random numbers (docs/random.md). They have an attribute of our own, `stream`: the
// number of the ONNX node, set by the importer, so that two nodes without a seed draw different numbers. Such
// nodes are never evaluated at compile time and never merged.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::ops {

bool is_random(const ir::Node& node);
// Sets `stream`, where the operator has it.
void set_stream(const ir::OpSchema& op, std::vector<ir::Attr>& slots, int64_t number);

}  // namespace mrvlc::ops
