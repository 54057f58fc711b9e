// A node of the model's graph, or of a body in it: "expr_id" of the ID map. Ids of nodes are those of one
// graph.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::ir {

using ExprId = Id<struct ExprTag>;

inline ExprId expr_id(const Graph& graph, NodeId node) {
  return ExprId(graph.expr_id(node));
}

}  // namespace mrvlc::ir
