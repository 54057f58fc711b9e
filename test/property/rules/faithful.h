// Rules that say what stands in a graph: most of them match there.
#pragma once
#include <string>

#include "../dice.h"
#include "mrvlc/ir/graph.h"
#include "mrvlc/rules/rule.h"

namespace mrvlc::rule_trials {

// `graph` is what the stage sees. With the groups that the rule names, in front of it.
std::string faithful_rule(random::Dice& dice, const ir::Graph& graph, rules::Stage stage, int number);

}  // namespace mrvlc::rule_trials
