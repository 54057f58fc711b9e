// What lineage says of nodes that are gone. A node that a pass made and that was erased has no sources of its
// own: they are those of the nodes it was made of. Written down for each node of a chain that is merged one
// by one, they would take the square of the chain.
#pragma once
#include <span>
#include <vector>

#include "mrvlc/ir/graph.h"

namespace mrvlc::ir {

// The sources of these nodes together, sorted.
std::vector<SourceId> sources_of(const Graph& graph, std::span<const NodeId> nodes);

// Of an ONNX node: the newest erased node that came from it (fences apart), and whether one was folded.
struct Gone {
  NodeId newest;
  bool folded = false;
};
// By source, of the nodes of this graph.
std::vector<Gone> gone_sources(const Graph& graph);

}  // namespace mrvlc::ir
