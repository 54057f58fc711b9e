// From matches on the imported graph to the nodes that the passes made of them.
#include "mrvlc/partition/source_rules.h"

#include <algorithm>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/rules.h"

namespace mrvlc::partition {

namespace {

template <class Asked>
SourceMatches matches(const ir::Graph& graph, const rules::RuleSet& set, const target::Machine& machine,
                      const range::Knowledge* known, Asked asked) {
  SourceMatches out;
  const rules::MachineNumbers numbers = machine_numbers(machine);
  std::vector<ir::NodeId> order;
  for (const rules::Rule& rule : set.rules()) {
    if (!asked(rule)) continue;
    if (order.empty()) order = graph.topological_order();
    std::vector<bool> taken(graph.node_slots());
    rules::MatchOptions options;
    options.available = [&](ir::NodeId n) { return !taken[n.index()]; };
    options.machine = &numbers;
    options.known = known;
    for (ir::NodeId n : order) {
      if (taken[n.index()] || !rules::anchors(rule, graph.node(n))) continue;
      const rules::Outcome o = rules::try_rule(rule, graph, n, options);
      if (!o.match) continue;
      SourceMatch& m = out.emplace_back();
      m.rule = rule.name;
      for (ir::NodeId matched : o.match->nodes) {
        taken[matched.index()] = true;
        const auto& sources = graph.lineage(matched).sources;
        m.sources.insert(m.sources.end(), sources.begin(), sources.end());
      }
      std::ranges::sort(m.sources);
      m.sources.erase(std::unique(m.sources.begin(), m.sources.end()), m.sources.end());
    }
  }
  return out;
}

}  // namespace

SourceMatches match_sources(const ir::Graph& imported, const rules::RuleSet& set,
                            const target::Machine& machine, const range::Knowledge* known) {
  return matches(imported, set, machine, known,
                 [](const rules::Rule& rule) { return rule.stage == rules::Stage::Source; });
}

bool asks_for_integers(const rules::Rule& rule) {
  if (rule.layer == name(LayerKind::Dequantize)) return false;  // of what is computed at run time
  return std::ranges::any_of(rule.pattern, [](const rules::Element& e) {
    return std::ranges::any_of(e.operators, [](const rules::Operator& o) {
      return o.def != nullptr && o.def->kind == Op::DequantizeLinear;
    });
  });
}

SourceMatches match_integers(const ir::Graph& graph, const rules::RuleSet& set,
                             const target::Machine& machine, const range::Knowledge* known) {
  return matches(graph, set, machine, known, [](const rules::Rule& rule) {
    return rule.stage == rules::Stage::Canonical && asks_for_integers(rule);
  });
}

SourceNodes::SourceNodes(const ir::Graph& graph)
    : graph_(graph), by_source_(graph.sources().size()), rank_(graph.node_slots()) {
  uint32_t rank = 0;
  for (ir::NodeId n : graph.topological_order()) {
    rank_[n.index()] = rank++;
    for (ir::SourceId s : graph.lineage(n).sources) by_source_[s.index()].push_back(n);
  }
}

std::vector<ir::NodeId> SourceNodes::touched(const SourceMatch& match) const {
  std::vector<ir::NodeId> out;
  for (ir::SourceId s : match.sources)
    out.insert(out.end(), by_source_[s.index()].begin(), by_source_[s.index()].end());
  std::ranges::sort(out, {}, [&](ir::NodeId n) { return rank_[n.index()]; });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Remains SourceNodes::of(const SourceMatch& match) const {
  Remains out;
  out.nodes = touched(match);
  for (ir::NodeId n : out.nodes) {
    const auto& sources = graph_.lineage(n).sources;
    auto other = std::ranges::find_if(
        sources, [&](ir::SourceId s) { return !std::ranges::binary_search(match.sources, s); });
    if (other == sources.end()) continue;
    const ir::Source& s = graph_.sources()[other->index()];
    const std::string part = fmt::format("{} '{}'", printable(s.op_type, 80), printable(s.name, 80));
    return {
        {},
        "a part of " + std::string(graph_.node(n).op->name),
        fmt::format("what it matched became a part of {} '{}', together with {}, which it does not match.",
                    graph_.node(n).op->name, printable(graph_.node(n).name, 80), part)};
  }
  if (!rules::one_result(graph_, out.nodes))
    return {{}, "several results", "what became of its nodes has more than one result that others read."};
  return out;
}

}  // namespace mrvlc::partition
