// Random conditions about what a pattern binds.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "../dice.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::rule_trials {

// What a pattern binds, each with its percent sign.
struct Names {
  std::vector<std::pair<std::string, const ops::OpDef*>> nodes;  // nullptr: of several operators
  std::vector<std::string> values, lists;
};

// Of a `where`, or empty. `names` has a node.
std::string random_conditions(random::Dice& dice, const Names& names);
// What stands above the rules for these to name.
std::string named_conditions(random::Dice& dice);

}  // namespace mrvlc::rule_trials
