// What a partition takes: its nodes on the host, its regions, and what the host rewrites at their borders.
#include <map>

#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/costs.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::partition {

double crossing_seconds(const HostModel& host, const Crossing& c, int64_t elements) {
  if (!c.casts && !c.permutes) return 0;
  const double cast = c.to_device ? host.cast_to_device_ns : host.cast_from_device_ns;
  const double both = c.to_device ? host.to_device_ns : host.from_device_ns;
  const double element = !c.casts ? host.permute_ns : c.permutes ? both : cast;
  return 1e-9 * (host.call_ns + element * static_cast<double>(elements));
}

std::vector<double> node_seconds(const ir::Graph& graph, const HostModel& host) {
  std::vector<double> out(graph.node_slots(), 0);
  const HostKernels kernels(graph, host.tiles);
  for (ir::NodeId n : graph.topological_order()) out[n.index()] = host_seconds(host, kernels, graph.node(n));
  return out;
}

double Times::seconds() const {
  double sum = host;
  for (const OfRegion& r : regions) sum += r.all();
  return sum;
}

Times estimate(const ir::Graph& graph, const Partition& partition, const Accelerator& target,
               const HostModel& host, const std::vector<double>& nodes, const std::vector<Crossing>& borders,
               const std::function<double(const Region&)>& accelerator) {
  const auto parts = target.parts();
  Times out;
  out.nodes.assign(nodes.size(), 0);
  for (const Step& s : partition.steps) {
    for (ir::NodeId n : nodes_of(s, partition)) {
      out.nodes[n.index()] = nodes[n.index()];
      out.host += nodes[n.index()];
    }
  }
  std::map<uint32_t, double> of_borders;  // by Region::id
  for (const Crossing& c : borders)
    of_borders[c.region] += crossing_seconds(host, c, graph.value(c.value).type.elements());
  for (const Region& r : partition.regions) {
    const double launch_us = parts[r.accelerator]->machine().launch_us;
    const auto border = of_borders.find(r.id);
    out.regions.push_back(
        {accelerator(r), 1e-6 * launch_us, border == of_borders.end() ? 0.0 : border->second});
  }
  return out;
}

}  // namespace mrvlc::partition
