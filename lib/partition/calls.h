// Makes calls of what the rules of libraries matched.
#pragma once
#include "mrvlc/partition/call.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/rules/matcher.h"

namespace mrvlc::partition {

// The call for a match, or why it cannot be made.
struct MadeCall {
  std::optional<Call> call;
  rules::Verdict refused;
};
// `nodes`: those of the match in topological order.
MadeCall make_call(const ir::Graph& graph, const rules::Match& match, std::vector<ir::NodeId> nodes);

// Steps of nodes that calls compute become steps of calls, each where its last node stood.
void gather_calls(const ir::Graph& graph, Partition& partition);

}  // namespace mrvlc::partition
