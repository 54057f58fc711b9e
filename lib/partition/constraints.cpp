#include "mrvlc/partition/constraints.h"

#include <algorithm>

#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/glob.h"
#include "placement.h"

namespace mrvlc::partition {

namespace {

// By the name, or by the name as messages and reports show it.
bool matches(std::string_view pattern, std::string_view name) {
  if (glob_match(pattern, name)) return true;
  const std::string shown = printable(name, 1u << 20);
  return shown != name && glob_match(pattern, shown);
}

}  // namespace

bool answers_itself(const ir::Node& node, std::string_view pattern) {
  return matches(pattern, node.name) || glob_match(pattern, node.op->name);
}

bool answers(const ir::Source& source, std::string_view pattern) {
  return matches(pattern, source.name) || glob_match(pattern, source.op_type) || pattern == source.id;
}

bool answers(const ir::Graph& graph, const ir::Node& node, std::string_view pattern) {
  const auto& made_of = graph.lineage(node.id).sources;
  return answers_itself(node, pattern) || std::ranges::any_of(made_of, [&](ir::SourceId s) {
           return answers(graph.sources()[s.index()], pattern);
         });
}

namespace {

// Nodes that were folded or merged away leave nothing to place; unheeded() says so.
bool names_source(const ir::Graph& graph, std::string_view pattern) {
  return std::ranges::any_of(graph.sources(), [&](const ir::Source& s) { return answers(s, pattern); });
}

template <class Apply>
Status for_each_match(const Placement& p, std::string_view option, const std::string& pattern, Apply apply) {
  bool any = false;
  for (ir::NodeId id : p.order) {
    if (!answers(p.graph, p.graph.node(id), pattern)) continue;
    any = true;
    apply(id);
  }
  if (any || names_source(p.graph, pattern)) return {};
  return make_diag<DiagCode::MRV0401>(option, printable(pattern));
}

}  // namespace

Status read_constraints(Placement& p, const Options& options) {
  for (const std::string& pattern : options.cpu) {
    const SharedText text = pattern;
    MRVLC_TRY(for_each_match(p, "--cpu", pattern,
                             [&](ir::NodeId n) { p.constraints[n.index()].cpu_pattern = text; }));
  }
  for (const std::string& pattern : options.accel) {
    const SharedText text = pattern;
    MRVLC_TRY(for_each_match(p, "--accel", pattern,
                             [&](ir::NodeId n) { p.constraints[n.index()].accel_pattern = text; }));
  }
  for (const std::string& border : options.borders) {
    MRVLC_TRY(
        for_each_match(p, "--border", border, [&](ir::NodeId n) { p.constraints[n.index()].border = true; }));
  }
  for (ir::NodeId n : p.order) {
    const NodeConstraints& w = p.constraints[n.index()];
    if (w.cpu_pattern.empty() || w.accel_pattern.empty()) continue;
    const ir::Node& node = p.graph.node(n);
    return at_node(make_diag<DiagCode::MRV0403>(printable(w.cpu_pattern), printable(w.accel_pattern)),
                   node.name, node.op->name);
  }
  return {};
}

Status check_forced(const Placement& p) {
  for (ir::NodeId n : p.order) {
    const std::string& pattern = p.constraints[n.index()].accel_pattern;
    if (pattern.empty() || p.layer_of[n.index()] != Placement::kNone) continue;
    const ir::Node& node = p.graph.node(n);
    return at_node(make_diag<DiagCode::MRV0402>(printable(pattern), p.decisions[n.index()].reason), node.name,
                   node.op->name);
  }
  return {};
}

}  // namespace mrvlc::partition
