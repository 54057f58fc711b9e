// Tries a rule at an anchor node. The longest chain that fulfils the conditions wins: when the conditions
// fail, shorter matches (optional elements left out, repetitions cut) are tried. Every value between two
// matched nodes must be used by matched nodes only, so a match is always convex.
#pragma once
#include <optional>

#include "mrvlc/rules/predicates.h"
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

inline constexpr size_t kMaxRepeats = 16;       // of one repeated element
inline constexpr size_t kMaxMatchSteps = 2048;  // extensions tried for one rule at one node

struct MatchOptions {
  // Nodes that may be matched at all; those already taken are not.
  std::function<bool(ir::NodeId)> available;
  // Nodes that may only be the anchor, because a new region must start in front of them.
  std::function<bool(ir::NodeId)> starts_region;
  // Whether the back end compiles the layer of this match. Asked for every match whose conditions hold,
  // whatever the rule says; what it refuses is no match. Unset: it compiles them all.
  std::function<Verdict(const Match&)> legal;
};

struct Outcome {
  std::optional<Match> match;
  // Without a match: the first condition that failed for the shortest candidate, or what is not legal about
  // it, or the element that found no node.
  std::string condition, actual, limit, reason;
  size_t progress = 0;  // how far it came; compares rules that failed at the same node
};

// Whether the anchor's operator is one of the rule's.
bool anchors(const Rule& rule, const ir::Node& node);
Outcome try_rule(const Rule& rule, const ir::Graph& graph, ir::NodeId anchor, const MatchOptions& options);

}  // namespace mrvlc::rules
