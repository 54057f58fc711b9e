// Tries a rule at an anchor node. The longest match that fulfils the conditions wins: when the conditions
// fail, shorter matches (optional elements left out, repetitions cut) are tried. What a match makes is read
// outside of it from one node only, on which all its others depend, so a match is always convex.
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
  // Nodes that read nothing which their match makes, because a new region must start in front of them.
  std::function<bool(ir::NodeId)> starts_region;
  // Whether the back end compiles the layer of this match. Asked for every match whose conditions hold,
  // whatever the rule says; what it refuses is no match. Unset: it compiles them all.
  std::function<Verdict(const Match&)> legal;
  const MachineNumbers* machine = nullptr;  // for conditions that ask for them
  const range::Knowledge* known = nullptr;  // the same
};

// Where the longest attempt came to its end.
struct Stop {
  size_t matched = 0;                // nodes
  const Element* element = nullptr;  // that found nothing; null: all were found
  ir::ValueId value;                 // that it should read or make
  bool upwards = false;              // it should make it
};

struct Outcome {
  std::optional<Match> match;
  // Without a match: the first condition that failed for the shortest candidate, or what is not legal about
  // it, or the element that found no node.
  std::string condition, actual, limit, reason;
  size_t progress = 0;  // how far it came; compares rules that failed at the same node
  Stop stop;
};

// Whether what the nodes make is read outside of them from one node at most, on which the others depend. Then
// no path leaves them and comes back.
bool one_result(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes);
// Whether the anchor's operator is one of the rule's.
bool anchors(const Rule& rule, const ir::Node& node);
Outcome try_rule(const Rule& rule, const ir::Graph& graph, ir::NodeId anchor, const MatchOptions& options);

}  // namespace mrvlc::rules
