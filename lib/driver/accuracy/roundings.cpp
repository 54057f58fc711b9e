// The roundings of a placed model.
#include "accuracy/roundings.h"

#include <algorithm>
#include <map>

#include "accuracy/run_cost.h"
#include "mrvlc/accel/stored.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

// What sensitivities may cost (run_cost.h) before one sample has to do: less than a minute on one core.
constexpr int64_t kBudget = 200'000'000'000;
// Of the host, as in run_cost.h; measured on one x86-64 core, an order of magnitude.
constexpr double kHostRate = 4e9;

double host_cycles(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes,
                   const target::Machine& machine) {
  int64_t cost = 0;
  for (ir::NodeId n : nodes) cost = saturating_add(cost, node_cost(graph, graph.node(n), true));
  return static_cast<double>(cost) / kHostRate * machine.clock_ghz * 1e9;
}

}  // namespace

RegionRoundings::RegionRoundings(const ir::Graph& graph, const partition::Partition& partition,
                                 const target::Machine& machine) {
  std::map<ir::ValueId, std::set<size_t>> touches;  // layers that make or read it
  for (const partition::Region& region : partition.regions) {
    for (const partition::Layer& layer : region.layers) {
      for (ir::NodeId n : layer.nodes)
        for (const auto* values : {&graph.node(n).inputs, &graph.node(n).outputs})
          for (ir::ValueId v : *values)
            if (v.valid()) touches[v].insert(layers.size());
      if (ops::macs(graph, graph.node(layer.anchor)) > 0)
        roundings.push_back({{{}, {layer.anchor}}, {layers.size()}, 0});
      layers.push_back({layer.nodes, host_cycles(graph, layer.nodes, machine)});
    }
  }
  std::set<ir::ValueId> seen;
  for (const partition::Region& region : partition.regions)
    for (const accel::StoredValue& s : accel::stored_values(graph, region)) {
      if (s.type != isa::DataType::F16 || !seen.insert(s.value).second) continue;
      const std::set<size_t>& by = touches[s.value];
      roundings.push_back({{{s.value}, {}}, {by.begin(), by.end()}, 0});
    }
}

Status RegionRoundings::measure(const ir::Graph& graph, std::vector<std::vector<Tensor>> samples,
                                const std::vector<ir::ValueId>& compared, unsigned jobs) {
  const auto of_node = [&](const ir::Node& n) { return node_cost(graph, n, true); };
  calibration::SensitivityOptions options;
  options.jobs = jobs;
  std::vector<calibration::Rounding> all;
  int64_t cost = 0;
  for (const RegionRounding& r : roundings) {
    all.push_back(r.rounding);
    cost = saturating_add(cost, calibration::measuring_cost(graph, r.rounding, of_node));
  }
  if (saturating_mul(cost, static_cast<int64_t>(samples.size())) > kBudget)
    samples.resize(std::min<size_t>(samples.size(), 1));
  MRVLC_ASSIGN(const std::vector<double> errors,
               calibration::sensitivities(graph, samples, all, compared, options));
  for (size_t i = 0; i < errors.size(); ++i) roundings[i].error = errors[i];
  return {};
}

}  // namespace mrvlc::driver
