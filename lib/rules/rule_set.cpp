#include "mrvlc/rules/rule_set.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "check.h"
#include "mrvlc/support/diag/rules.h"
#include "parser.h"

namespace mrvlc::rules {
namespace {

void check_layer(const CheckContext& c, const std::vector<std::string_view>& kinds) {
  if (c.rule.layer.empty() || std::find(kinds.begin(), kinds.end(), c.rule.layer) != kinds.end()) return;
  c.diagnostics.add(make_diag<DiagCode::MRV0309>(c.where(c.rule.at), printable(c.rule.layer),
                                                 fmt::format("{}", fmt::join(kinds, ", "))));
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

LoadResult load_rules(const std::vector<RuleFile>& files, const std::vector<std::string_view>& layer_kinds,
                      const FindOperator& find_operator) {
  LoadResult out;
  std::vector<Rule> rules;
  for (const RuleFile& file : files) parse_file(file, rules, out.diagnostics);
  check_names(rules, out.diagnostics);
  for (const Rule& r : rules) {
    CheckContext c{r, find_operator, out.diagnostics};
    check_layer(c, layer_kinds);
    check_pattern(c);
    check_conditions(c);
  }
  std::sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) {
    return std::tuple(b.priority, b.pattern.size(), std::string_view(a.name)) <
           std::tuple(a.priority, a.pattern.size(), std::string_view(b.name));
  });
  if (!out.diagnostics.has_errors()) check_rules(rules, out.diagnostics);
  if (!out.diagnostics.has_errors()) out.set.rules_ = std::move(rules);
  return out;
}

}  // namespace mrvlc::rules
