// How often a rule of test/rules/expressive matches.
#pragma once
#include <catch2/catch.hpp>

#include "mrvlc/partition/rules.h"
#include "mrvlc/rules/matcher.h"
#include "mrvlc/support/file.h"

namespace mrvlc::test {

inline rules::RuleSet rules_of(const std::string& file) {
  auto text = read_file(std::filesystem::path(MRVLC_EXPRESSIVE_RULES) / (file + ".rules"));
  if (!text.ok()) FAIL(text.error().message);
  rules::LoadResult r = partition::load_rules({}, {{file + ".rules", *text}});
  for (const Diag& d : r.diagnostics.list()) FAIL(d.message);
  return std::move(r.set);
}

// Matches that have no node in common, in program order.
inline size_t count(const rules::Rule& rule, const ir::Graph& g) {
  std::vector<bool> taken(g.node_slots());
  rules::MatchOptions options;
  options.available = [&](ir::NodeId n) { return !taken[n.index()]; };
  size_t matches = 0;
  for (ir::NodeId n : g.topological_order()) {
    if (taken[n.index()] || !rules::anchors(rule, g.node(n))) continue;
    const rules::Outcome o = rules::try_rule(rule, g, n, options);
    if (!o.match) continue;
    ++matches;
    for (ir::NodeId m : o.match->nodes) taken[m.index()] = true;
  }
  return matches;
}

}  // namespace mrvlc::test
