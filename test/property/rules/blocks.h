// What real networks consist of, appended to a random model: products and what follows them, operators
// written out in smaller ones, integer weights behind DequantizeLinear.
#pragma once
#include "../graphs/grow.h"

namespace mrvlc::rule_trials {

void add_block(graphs::Grower& g);

}  // namespace mrvlc::rule_trials
