#include "mrvlc/driver/place.h"

#include "mrvlc/partition/rules.h"
#include "mrvlc/passes/widen_f16.h"

namespace mrvlc::driver {
namespace {

std::set<ir::NodeId> nodes_on_cpu(const partition::Partition& partition) {
  std::set<ir::NodeId> nodes;
  for (const auto& d : partition.decisions) {
    if (!d.accelerator) nodes.insert(d.node);
  }
  return nodes;
}

}  // namespace

Result<partition::Partition> place(ir::Graph& graph, const target::Machine& machine,
                                   const partition::Options& options,
                                   const partition::SourceMatches& sources) {
  MRVLC_ASSIGN(partition::Partition partition, partition::partition(graph, machine, options, sources));
  if (!options.accelerator) return partition;
  const auto on_cpu = nodes_on_cpu(partition);
  bool changed = false;
  MRVLC_TRY(passes::widen_f16(
      graph, [&](const ir::Node& n) { return on_cpu.contains(n.id); }, changed));
  if (!changed) return partition;
  return partition::partition(graph, machine, options, sources);
}

partition::SourceMatches match_sources(const ir::Graph& imported, const target::Machine& machine,
                                       const partition::Options& options) {
  if (!options.accelerator || options.rule_files.empty()) return {};  // no built-in rule is of that stage
  std::vector<rules::RuleFile> files;
  for (const auto& [name, text] : options.rule_files) files.push_back({name, text});
  return partition::match_sources(imported, partition::load_rules(options.default_rules, files).set, machine);
}

}  // namespace mrvlc::driver
