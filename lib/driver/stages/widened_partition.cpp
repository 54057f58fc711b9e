// Partitions, widens float16 on the CPU to float32, and partitions the graph with its conversions once more.
#include "mrvlc/driver/place.h"
#include "mrvlc/passes/widen_f16.h"

namespace mrvlc::driver {
namespace {

// By node. What a library computes in float16 stays so.
std::vector<bool> nodes_on_cpu(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<bool> on_cpu(graph.node_slots(), false);
  for (const auto& d : partition.decisions) on_cpu[d.node.index()] = !d.on_target();
  return on_cpu;
}

// What was decided by cost, by node.
std::vector<bool> cheaper_on_host(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<bool> out(graph.node_slots(), false);
  for (const auto& d : partition.decisions) out[d.node.index()] = d.why == partition::Why::CheaperOnHost;
  return out;
}

}  // namespace

Result<partition::Partition> place(ir::Graph& graph, const partition::Accelerator* accelerator,
                                   const partition::Options& options,
                                   const partition::SourceMatches& sources) {
  MRVLC_ASSIGN(partition::Partition partition, partition::partition(graph, accelerator, options, sources));
  if (accelerator == nullptr) return partition;
  const std::vector<bool> cheaper = cheaper_on_host(graph, partition);
  const std::vector<bool> on_cpu = nodes_on_cpu(graph, partition);
  bool changed = false;
  MRVLC_TRY(passes::widen_f16(
      graph, [&](const ir::Node& n) { return on_cpu[n.id.index()]; }, changed));
  if (!changed) return partition;
  partition::Options again = options;
  if (options.costs != nullptr) again.decided = &cheaper, again.before = &partition;
  MRVLC_ASSIGN(partition::Partition widened, partition::partition(graph, accelerator, again, sources));
  widened.chosen_seconds = partition.chosen_seconds;
  widened.greedy_seconds = partition.greedy_seconds;
  widened.gap = partition.gap;
  widened.left_out = partition.left_out;
  return widened;
}

}  // namespace mrvlc::driver
