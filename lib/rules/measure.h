// What the expressions of a condition give for a match.
#pragma once
#include <optional>

#include "mrvlc/rules/predicates.h"

namespace mrvlc::rules {

// What is computed with numbers alone: arguments are expressions, lists are computed with element by element.
struct NumberFunction {
  std::string_view name;
  size_t parameters;  // one or two
  bool whole;         // the result is a whole number; else where the arguments are
  // Of one number each; of one parameter `b` says nothing.
  Datum (*compute)(const Datum& a, const Datum& b);
};
std::span<const NumberFunction> number_functions();
const NumberFunction* find_number_function(std::string_view name);

// Of one number, or a list of one.
std::optional<double> real(const Datum& d);
std::optional<int64_t> whole(const Datum& d);

using Arguments = std::vector<Argument>;
// A capture that stands for nothing is among those that the expression asks about.
bool mentions_absent(const Expression& e, const Match& match);
Arguments arguments(const Function& f, const Expression& call, const Match& match);
// Calls ask(arguments) for each value of the lists among the arguments, side by side, until it says false.
// False: lists of different lengths.
bool for_each_value(const Function& f, const Arguments& args,
                    const std::function<bool(const Arguments&)>& ask);
}  // namespace mrvlc::rules
