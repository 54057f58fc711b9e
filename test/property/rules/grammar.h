// Random rule files, most of them about chains that the graph at hand has.
#pragma once
#include <string>

#include "../dice.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::rule_trials {

// `graph` is what the passes make of `imported`.
std::string random_rules(random::Dice& dice, const ir::Graph& graph, const ir::Graph& imported);

}  // namespace mrvlc::rule_trials
