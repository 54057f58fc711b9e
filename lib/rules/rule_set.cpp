#include "mrvlc/rules/rule_set.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "check.h"
#include "mrvlc/support/diag/rules.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

bool asks_legality_alone(const Condition& c) {
  if (c.any_of.size() != 1 || c.any_of[0].negated || c.any_of[0].relation != Relation::Holds) return false;
  const Expression& e = c.any_of[0].left;
  return e.kind == Expression::Kind::Call && e.text == kLegalityClause && e.items.size() == 1 &&
         e.items[0].kind == Expression::Kind::Word && e.items[0].text == "layer";
}

// Files written when rules had to ask for legality themselves mean what they meant.
void drop_legality_clauses(Rule& rule, Diagnostics& diagnostics) {
  auto clause = std::ranges::find_if(rule.where, asks_legality_alone);
  if (clause == rule.where.end()) return;
  diagnostics.add(make_diag<DiagCode::MRV0317>(location_text(rule, clause->at), clause->text));
  std::erase_if(rule.where, asks_legality_alone);
}

void find_operators(Rule& rule, const FindOperator& find_operator) {
  for (Element& e : rule.pattern) {
    for (Operator& o : e.operators) o.def = find_operator(o.domain, o.name);
  }
}

void check_names(const std::vector<Rule>& rules, Diagnostics& diagnostics) {
  std::map<std::string_view, const Rule*> seen;
  for (const Rule& r : rules) {
    auto [it, fresh] = seen.try_emplace(r.name, &r);
    if (fresh) continue;
    diagnostics.add(make_diag<DiagCode::MRV0306>(location_text(r, r.at), "rule", r.name,
                                                 location_text(*it->second, it->second->at)));
  }
}

}  // namespace

const Rule* RuleSet::find(std::string_view name) const {
  for (const Rule& r : rules_) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

LoadResult load_rules(const std::vector<RuleFile>& files, const std::vector<LayerWord>& kinds,
                      const FindOperator& find_operator) {
  LoadResult out;
  std::vector<Rule> rules;
  for (const RuleFile& file : files) parse_file(file, rules, out.diagnostics);
  check_names(rules, out.diagnostics);
  for (Rule& r : rules) {
    drop_legality_clauses(r, out.diagnostics);
    find_operators(r, find_operator);
    CheckContext c{r, out.diagnostics};
    check_layer(c, kinds);
    check_pattern(c);
    check_conditions(c);
  }
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) {
    return std::tuple(b.priority, b.pattern.size(), std::string_view(a.name)) <
           std::tuple(a.priority, a.pattern.size(), std::string_view(b.name));
  });
  if (!out.diagnostics.has_errors()) check_rules(rules, kinds, out.diagnostics);
  if (!out.diagnostics.has_errors()) out.set.rules_ = std::move(rules);
  return out;
}

}  // namespace mrvlc::rules
