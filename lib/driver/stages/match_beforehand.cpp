// Rules that are asked before the passes of the compile, or on another graph than these make.
#include <algorithm>

#include "mrvlc/driver/place.h"
#include "mrvlc/ir/lineage.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/rules.h"

namespace mrvlc::driver {
namespace {

using Sources = std::vector<ir::SourceId>;

// Sorted: what rules keep on the CPU that name DequantizeLinear. What the accelerator computes is folded all
// the same: it has no products of integers.
Sources kept_as_integers(const partition::SourceMatches& matches, const rules::RuleSet& set) {
  Sources out;
  for (const partition::SourceMatch& m : matches) {
    const rules::Rule* rule = set.find(m.rule);
    if (rule != nullptr && rule->layer == partition::kCpuKind && partition::asks_for_integers(*rule))
      out.insert(out.end(), m.sources.begin(), m.sources.end());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

bool dequantizes_constant(const ir::Graph& graph, const ir::Node& node) {
  return node.is(Op::DequantizeLinear) && graph.is_constant(node.inputs[0]);
}

std::function<bool(const ir::Graph&, const ir::Node&)> dequantizes_one_of(std::vector<ir::SourceId> sources) {
  return [sources = std::move(sources)](const ir::Graph& graph, const ir::Node& node) {
    auto named = [&](ir::SourceId s) { return std::ranges::binary_search(sources, s); };
    return dequantizes_constant(graph, node) &&
           std::ranges::any_of(ir::sources_of(graph, {&node.id, 1}), named);
  };
}

Result<ir::Graph> with_integer_weights(const ir::Graph& imported, const passes::RunOptions& run) {
  ir::Graph graph = imported;
  passes::RunOptions own;
  own.context = run.context;
  own.context.stays = dequantizes_constant;
  MRVLC_TRY(passes::run_passes(graph, passes::float_pipeline(), own));
  return graph;
}

namespace {

Result<partition::SourceMatches> match_for(const ir::Graph& imported, const rules::RuleSet& set,
                                           const partition::Accelerator& part, const passes::RunOptions& run,
                                           const KnownOf& known_of, Sources& kept) {
  const target::Machine& machine = part.machine();
  const auto known = [&](const ir::Graph& graph) { return known_of ? known_of(graph) : range::Knowledge(); };
  partition::SourceMatches out;
  if (std::ranges::any_of(set.rules(),
                          [](const rules::Rule& r) { return r.stage == rules::Stage::Source; })) {
    const range::Knowledge of_imported = known(imported);
    out = partition::match_sources(imported, set, machine, &of_imported);
  }
  // Who sees integers is asked of the graph of the compile.
  const bool canonical = !part.sees_integers() && std::ranges::any_of(set.rules(), [](const rules::Rule& r) {
    return r.stage == rules::Stage::Canonical && partition::asks_for_integers(r);
  });
  if (canonical) {
    MRVLC_ASSIGN(const ir::Graph graph, with_integer_weights(imported, run));
    const range::Knowledge of_graph = known(graph);
    const partition::SourceMatches more = partition::match_integers(graph, set, machine, &of_graph);
    out.insert(out.end(), more.begin(), more.end());
  }
  const Sources of_set = kept_as_integers(out, set);
  kept.insert(kept.end(), of_set.begin(), of_set.end());
  return out;
}

}  // namespace

Result<partition::SourceMatches> match_beforehand(const ir::Graph& imported,
                                                  const std::vector<partition::Turn>& turns,
                                                  const partition::Accelerator& accelerator,
                                                  passes::RunOptions& run, const KnownOf& known_of) {
  const auto parts = accelerator.parts();
  partition::SourceMatches out;
  Sources kept;
  for (size_t i = 0; i < parts.size(); ++i) {
    MRVLC_ASSIGN(const partition::SourceMatches matches,
                 match_for(imported, turns[i].rules->set, *parts[i], run, known_of, kept));
    out.insert(out.end(), matches.begin(), matches.end());
  }
  std::ranges::sort(kept);
  if (!kept.empty()) run.context.stays = dequantizes_one_of(std::move(kept));
  return out;
}

}  // namespace mrvlc::driver
