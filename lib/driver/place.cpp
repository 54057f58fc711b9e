#include "mrvlc/driver/place.h"

#include "mrvlc/passes/round_weights.h"
#include "mrvlc/passes/widen_f16.h"

namespace mrvlc::driver {
namespace {

std::set<ir::NodeId> nodes_on(bool accelerator, const partition::Partition& partition) {
  std::set<ir::NodeId> nodes;
  for (const auto& d : partition.decisions) {
    if (d.accelerator == accelerator) nodes.insert(d.node);
  }
  return nodes;
}

}  // namespace

Result<partition::Partition> place(ir::Graph& graph, const target::Machine& machine,
                                   const partition::Options& options) {
  MRVLC_ASSIGN(partition::Partition partition, partition::partition(graph, machine, options));
  if (!options.accelerator) return partition;
  const auto on_cpu = nodes_on(false, partition);
  bool changed = false;
  MRVLC_TRY(passes::widen_f16(
      graph, [&](const ir::Node& n) { return on_cpu.contains(n.id); }, changed));
  if (!changed) return partition;
  return partition::partition(graph, machine, options);
}

void round_weights(ir::Graph& graph, const partition::Partition& partition) {
  const auto accelerated = nodes_on(true, partition);
  passes::round_weights(graph, [&](const ir::Node& n) { return accelerated.contains(n.id); });
}

}  // namespace mrvlc::driver
