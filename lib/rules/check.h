// The static checker, in three parts: each pattern, each condition, and rules against each other.
#pragma once
#include <optional>

#include "mrvlc/rules/predicates.h"
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

struct CheckContext {
  const Rule& rule;
  const FindOperator& find_operator;
  Diagnostics& diagnostics;

  std::string where(Location at) const { return location_text(rule, at); }
};

void check_pattern(const CheckContext& context);
void check_conditions(const CheckContext& context);
// Overlap and shadowing; `rules` are in the order in which they decide and each is sound in itself.
void check_rules(const std::vector<Rule>& rules, Diagnostics& diagnostics);

// The element of that name, or nullptr.
const Element* find_element(const Rule& rule, std::string_view capture);
// Whether a match always binds the capture: it belongs to an element that must be there and is not an
// optional operand.
bool always_bound(const Rule& rule, std::string_view capture);

}  // namespace mrvlc::rules
