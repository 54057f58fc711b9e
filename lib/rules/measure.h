// What the expressions of a condition give for a match.
#pragma once
#include "mrvlc/rules/predicates.h"

namespace mrvlc::rules {

using Arguments = std::vector<Argument>;
// A capture that stands for nothing is among those that the expression asks about.
bool mentions_absent(const Expression& e, const Match& match);
Arguments arguments(const Function& f, const Expression& call, const Match& match);
// Calls ask(arguments) for each value of the lists among the arguments, side by side, until it says false.
// False: lists of different lengths.
bool for_each_value(const Function& f, const Arguments& args,
                    const std::function<bool(const Arguments&)>& ask);
}  // namespace mrvlc::rules
