// Random rule files, most of them about chains that the graph at hand has.
#pragma once
#include <string>

#include "../dice.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::rule_trials {

// `graph` is what the passes make of `imported`, `integers` what they make of it when weights behind
// DequantizeLinear stay as they are.
std::string random_rules(random::Dice& dice, const ir::Graph& graph, const ir::Graph& imported,
                         const ir::Graph& integers);

}  // namespace mrvlc::rule_trials
