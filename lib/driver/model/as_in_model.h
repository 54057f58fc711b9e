// Names of the ONNX model, for messages about expressions that passes made.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::driver {

// The ONNX node that an expression comes from, the first of several; null for one of none.
inline const ir::Source* source_of(const ir::Graph& graph, ir::NodeId id) {
  const auto& sources = graph.lineage(id).sources;
  return sources.empty() ? nullptr : &graph.sources()[sources.front().index()];
}

// Names that node, by its id when it has no name.
inline Diag as_in_model(const ir::Graph& graph, Diag diag, ir::NodeId id) {
  const ir::Source* s = source_of(graph, id);
  return s == nullptr ? std::move(diag)
                      : at_node(std::move(diag), s->name.empty() ? s->id : s->name, s->op_type);
}

}  // namespace mrvlc::driver
