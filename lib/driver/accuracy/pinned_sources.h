// What --accel keeps on the accelerator.
#pragma once
#include <set>

#include "mrvlc/driver/options.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

// Of the nodes that a pattern of --accel names. A layer moves with all ONNX nodes that it was made of, and so
// do others that were made of one of them.
std::set<ir::SourceId> pinned_sources(const ir::Graph& graph, const CompileOptions& options);
bool any_pinned(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes,
                const std::set<ir::SourceId>& pinned);

}  // namespace mrvlc::driver
