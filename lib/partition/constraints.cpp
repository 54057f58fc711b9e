// Constraints on nodes: from patterns of the options, and from constraints that were resolved before the
// passes.
#include <algorithm>

#include "mrvlc/partition/answers.h"
#include "mrvlc/support/diag/partition.h"
#include "no_match.h"
#include "placement.h"

namespace mrvlc::partition {

namespace {

// Nodes that were folded or merged away leave nothing to place; ineffective_constraints() says so.
bool names_source(const ir::Graph& graph, std::string_view pattern) {
  return std::ranges::any_of(graph.sources(), [&](const ir::Source& s) { return answers(s, pattern); });
}

template <class Apply>
Status for_each_match(const Placement& p, std::string_view option, const std::string& pattern, bool of_body,
                      Apply apply) {
  bool any = false;
  for (ir::NodeId id : p.order) {
    if (!answers(p.graph, p.graph.node(id), pattern)) continue;
    any = true;
    apply(id);
  }
  if (any || of_body || names_source(p.graph, pattern)) return {};
  return matches_nothing(p.graph, fmt::format("{} '{}'", option, printable(pattern)), {pattern});
}

void ask(NodeConstraints& n, const Pins::Set& set, uint32_t group, const SharedText& text) {
  const Constraint& c = set.constraint;
  if (c.on == Constraint::Target::Cpu) n.cpu_pattern = text;
  if (c.on == Constraint::Target::Accelerator) n.accel_pattern = text;
  if (c.together) n.group = group;
  if (c.max_layers) n.max_layers = std::min(n.max_layers, *c.max_layers);
}

Status read_pins(Placement& p, const Pins& pins, bool of_body) {
  p.pins = &pins;
  const std::vector<Pins::Set>& sets = pins.sets();
  std::vector<SharedText> texts;
  for (const Pins::Set& set : sets) texts.emplace_back(set.constraint.given_as);
  std::vector<bool> names_some(sets.size());
  for (ir::NodeId n : p.order) {
    for (uint32_t i : pins.sets_of(p.graph, n)) {
      names_some[i] = true;
      ask(p.constraints[n.index()], sets[i], i + 1, texts[i]);
    }
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    const Constraint& c = sets[i].constraint;
    if (!names_some[i] && !of_body && sets[i].sources.empty() && sets[i].canonical)
      return matches_nothing(p.graph, c.given_as, c.nodes);
  }
  return {};
}

}  // namespace

Status read_constraints(Placement& p, const Options& options) {
  for (const std::string& pattern : options.cpu) {
    const SharedText text = fmt::format("--cpu '{}'", printable(pattern));
    MRVLC_TRY(for_each_match(p, "--cpu", pattern, options.of_body,
                             [&](ir::NodeId n) { p.constraints[n.index()].cpu_pattern = text; }));
  }
  for (const std::string& pattern : options.accel) {
    const SharedText text = fmt::format("--accel '{}'", printable(pattern));
    MRVLC_TRY(for_each_match(p, "--accel", pattern, options.of_body,
                             [&](ir::NodeId n) { p.constraints[n.index()].accel_pattern = text; }));
  }
  for (const std::string& border : options.borders) {
    MRVLC_TRY(for_each_match(p, "--border", border, options.of_body,
                             [&](ir::NodeId n) { p.constraints[n.index()].border = true; }));
  }
  if (options.pins != nullptr) MRVLC_TRY(read_pins(p, *options.pins, options.of_body));
  for (ir::NodeId n : p.order) {
    const NodeConstraints& w = p.constraints[n.index()];
    if (w.cpu_pattern.empty() || w.accel_pattern.empty()) continue;
    const ir::Node& node = p.graph.node(n);
    return at_node(make_diag<DiagCode::MRV0403>(w.cpu_pattern, w.accel_pattern), node.name, node.op->name);
  }
  return {};
}

Status check_forced(const Placement& p) {
  for (ir::NodeId n : p.order) {
    const std::string& pattern = p.constraints[n.index()].accel_pattern;
    if (pattern.empty() || p.layer_of[n.index()] != Placement::kNone) continue;
    const ir::Node& node = p.graph.node(n);
    return at_node(make_diag<DiagCode::MRV0402>(pattern, p.decisions[n.index()].reason), node.name,
                   node.op->name);
  }
  return {};
}

}  // namespace mrvlc::partition
