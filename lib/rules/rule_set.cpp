// Rule files read, groups written out, rules checked one by one and against each other, then put in order.
#include "mrvlc/rules/rule_set.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "check.h"
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
void drop_legality_clauses(Rule& rule, Messages& messages) {
  auto clause = std::ranges::find_if(rule.where, asks_legality_alone);
  if (clause == rule.where.end()) return;
  messages.at<DiagCode::MRV0317>(rule, clause->at, clause->text);
  std::erase_if(rule.where, asks_legality_alone);
}

// The first element that is always there.
void find_anchor(Rule& rule) {
  for (const Item& i : rule.items) {
    if (i.is_choice() || i.repeat != Repeat::One || rule.pattern[i.element].several) continue;
    rule.anchor = i.element;
    return;
  }
}

void find_operators(Rule& rule, const FindOperator& find_operator) {
  for (Element& e : rule.pattern) {
    for (Operator& o : e.operators) o.def = find_operator(o.domain, o.name);
  }
}

void check_names(const std::vector<Rule>& rules, Messages& messages) {
  std::map<std::string_view, const Rule*> seen;
  for (const Rule& r : rules) {
    auto [it, fresh] = seen.try_emplace(r.name, &r);
    if (fresh) continue;
    messages.at<DiagCode::MRV0306>(r, r.at, "rule", r.name, location_text(*it->second, it->second->at));
  }
}

void check_group_names(const std::vector<GroupUse>& groups, const Vocabulary& words, Messages& messages) {
  for (const GroupUse& g : groups) {
    if (words.find_operator("", g.name) == nullptr) continue;
    messages.add<DiagCode::MRV0325>(g.origin, g.at, "group", g.name, "an operator",
                                    fmt::format("'@{}' is the group, '{}' the operator", g.name, g.name));
  }
}

void check_rule(Rule& r, const Vocabulary& words, Messages& messages) {
  drop_legality_clauses(r, messages);
  find_operators(r, words.find_operator);
  find_anchor(r);
  const CheckContext c{r, messages, words};
  const size_t before = messages.errors();
  check_layer(c, words.kinds);
  check_pattern(c);
  check_conditions(c);
  check_call(c);
  if (messages.errors() == before) check_values(c);
}

Diagnostics advice_on(const std::vector<RuleFile>& files, const std::vector<Rule>& rules,
                      const std::vector<GroupUse>& groups, const Vocabulary& words) {
  Messages notes(files);
  for (const Rule& r : rules) advise({r, notes, words});
  for (const GroupUse& g : groups) {
    if (!g.used) notes.add<DiagCode::MRV0326>(g.origin, g.at, g.name);
  }
  return notes.take();
}

}  // namespace

const Rule* RuleSet::find(std::string_view name) const {
  for (const Rule& r : rules_) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

LoadResult load_rules(const std::vector<RuleFile>& files, const Vocabulary& words) {
  LoadResult out;
  Messages messages(files);
  std::vector<Rule> rules;
  std::vector<GroupUse> groups;
  parse_files(files, rules, groups, messages);
  write_out_groups(rules, groups, messages);
  check_names(rules, messages);
  check_group_names(groups, words, messages);
  for (Rule& r : rules) check_rule(r, words, messages);
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) {
    return std::tuple(b.priority, b.pattern.size(), std::string_view(a.name)) <
           std::tuple(a.priority, a.pattern.size(), std::string_view(b.name));
  });
  if (messages.errors() == 0) check_rules(rules, words.kinds, messages);
  const bool sound = messages.errors() == 0;
  out.diagnostics = messages.take();
  if (!sound) return out;
  out.advice = advice_on(files, rules, groups, words);
  out.set.rules_ = std::move(rules);
  return out;
}

}  // namespace mrvlc::rules
