// Conditions that hold of the values and nodes that a pattern was written from.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "../dice.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::rule_trials {

// Each with its percent sign.
struct Bound {
  std::vector<std::pair<std::string, ir::ValueId>> values;
  std::vector<std::pair<std::string, ir::NodeId>> nodes;
};

// Of a `where`, or empty.
std::string true_conditions(random::Dice& dice, const ir::Graph& graph, const Bound& bound);

}  // namespace mrvlc::rule_trials
