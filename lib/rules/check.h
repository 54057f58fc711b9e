// The static checker in its parts: each pattern, each condition, the values that conditions admit, the layer
// kind, and rules against each other.
#pragma once
#include <optional>

#include "messages.h"
#include "mrvlc/rules/predicates.h"
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::rules {

struct CheckContext {
  const Rule& rule;
  Messages& messages;
  const Vocabulary& words;
};

void check_pattern(const CheckContext& context);
void check_conditions(const CheckContext& context);
// The kind of what an expression gives, when it is sound.
std::optional<Kind> check_expression(const CheckContext& context, const Expression& e);
// The clauses `call` and `cost`, which rules of kind `call` have.
void check_call(const CheckContext& context);
// What check_conditions found sound.
void check_values(const CheckContext& context);
// The layer kind must be one of `kinds` and begin with the anchor's operators.
void check_layer(const CheckContext& context, const std::vector<LayerWord>& kinds);
// Overlap and shadowing; `rules` are in the order in which they decide and each is sound in itself.
void check_rules(const std::vector<Rule>& rules, const std::vector<LayerWord>& kinds, Messages& messages);
// Notes on a sound rule.
void advise(const CheckContext& context);

// What rules had to ask, as accelerator_can(layer), before legality was asked of every match.
inline constexpr std::string_view kLegalityClause = "accelerator_can";

// The first element that makes what has that name, or nullptr; alternatives may have several.
const Element* find_element(const Rule& rule, std::string_view capture);
bool makes(const Element& e, std::string_view capture);
bool reads(const Element& e, std::string_view capture);
// The name of the last element of each alternative: what others read of it, and its next round.
std::vector<std::string> results_of(const Rule& rule, const Item& choice);
// Whether a match always binds the capture: it belongs to an element that must be there and is not an
// optional operand.
bool always_bound(const Rule& rule, std::string_view capture);

}  // namespace mrvlc::rules
