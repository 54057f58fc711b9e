// Keeps the passes from fusing what is placed apart. A fence is a node that passes its operand on, and that
// no pass knows: what it stands between has no edge, so no rewrite reaches across, whichever it is. Rewrites
// of one node go on as always. A fence of a constant is folded.
#pragma once
#include <functional>
#include <set>

#include "mrvlc/ir/graph.h"

namespace mrvlc::passes {

// A fence on every edge for which `label` is not 0; nodes behind fences of one value with equal labels may
// become one. A border (label 1) behind a DequantizeLinear of bytes stands in front of it, and what reads it
// has one of its own: integers cross as they are, numbers rounded to what an accelerator computes in.
void raise_fences(ir::Graph& graph, const std::function<int64_t(ir::ValueId, ir::NodeId)>& label);
// Takes all of them away. Edges that are left where a fence with an odd label was.
std::set<std::pair<ir::ValueId, ir::NodeId>> take_fences(ir::Graph& graph);

// For rewrites that leave every node where it is: those may look across.
bool is_fence(const ir::Node& node);

}  // namespace mrvlc::passes
