// The roundings of a placed model.
#include "accuracy/roundings.h"

#include <algorithm>
#include <cmath>

#include "accuracy/run_cost.h"
#include "mrvlc/calibration/error.h"
#include "mrvlc/interp/visit.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

using partition::Precision;

// Of the host, as in run_cost.h; measured on one x86-64 core, an order of magnitude.
constexpr double kHostRate = 4e9;
// Elements a cycle of the vector unit, all tiles: for what a pair costs where nothing is multiplied.
constexpr double kVectorRate = 128;
// A pair is shifted from here on, so that its high part stays in the middle of fp16's range.
constexpr double kShiftFrom = 32768, kShiftTo = 4096;

double host_cycles(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes,
                   const target::Machine& machine) {
  int64_t cost = 0;
  for (ir::NodeId n : nodes) cost = saturating_add(cost, node_cost(graph, graph.node(n), true));
  return static_cast<double>(cost) / kHostRate * machine.clock_ghz * 1e9;
}

bool multiplies(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes) {
  return std::ranges::any_of(nodes, [&](ir::NodeId n) { return ops::macs(graph, graph.node(n)) > 0; });
}

bool makes(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes, ir::ValueId value) {
  return std::ranges::find(nodes, graph.value(value).producer) != nodes.end();
}

}  // namespace

RegionRoundings::RegionRoundings(const ir::Graph& graph, const partition::Partition& partition,
                                 const backend::Backend& backend, const std::vector<double>& cycles) {
  for (const partition::Region& region : partition.regions) {
    const partition::PrecisionChoice can(graph, region);
    for (const partition::Layer& layer : region.layers) {
      for (ir::NodeId n : layer.nodes)
        for (const auto* values : {&graph.node(n).inputs, &graph.node(n).outputs})
          for (ir::ValueId v : *values)
            if (v.valid()) touches_[v].insert(layers.size());
      layers.push_back({layer.nodes, host_cycles(graph, layer.nodes, backend.machine()),
                        layers.size() < cycles.size() ? cycles[layers.size()] : 0});
      if (ops::macs(graph, graph.node(layer.anchor)) > 0) add_constants(graph, layer, can);
    }
  }
  for (const partition::Region& region : partition.regions)
    add_values(graph, region, backend, partition::PrecisionChoice(graph, region));
}

// Weights as pairs take each product twice.
void RegionRoundings::add_constants(const ir::Graph& graph, const partition::Layer& layer,
                                    const partition::PrecisionChoice& can) {
  RegionRounding r;
  r.rounding.constants_of = {layer.anchor};
  r.layers = {layers.size() - 1};
  r.pair_cycles[r.layers[0]] = layers.back().cycles;
  const Precision pair{Precision::Kind::Pair, 0};
  for (ir::ValueId v : graph.node(layer.anchor).inputs)
    if (graph.is_constant(v) && std::ranges::find(can.values(), v) != can.values().end() &&
        !can.obstacle(v, pair))
      r.pairs[v] = pair;
  roundings.push_back(std::move(r));
}

// A value that several regions read must be a pair in each of them.
void RegionRoundings::add_values(const ir::Graph& graph, const partition::Region& region,
                                 const backend::Backend& backend, const partition::PrecisionChoice& can) {
  const Precision pair{Precision::Kind::Pair, 0};
  for (const backend::StoredValue& s : backend.stored_values(graph, region)) {
    if (s.type != ElementType::F16) continue;
    const bool obstacle = can.obstacle(s.value, pair).has_value();
    const auto known = std::ranges::find_if(roundings, [&](const RegionRounding& r) {
      return !r.rounding.values.empty() && r.rounding.values[0] == s.value;
    });
    if (known != roundings.end()) {
      if (obstacle) known->pairs.clear();
      continue;
    }
    RegionRounding r;
    r.rounding.values = {s.value};
    const std::set<size_t>& by = touches_[s.value];
    r.layers.assign(by.begin(), by.end());
    if (!obstacle) r.pairs[s.value] = pair;
    const double moved = static_cast<double>(graph.value(s.value).type.elements()) / kVectorRate;
    for (size_t i : by) {
      const bool reads = !makes(graph, layers[i].nodes, s.value);
      r.pair_cycles[i] = moved / static_cast<double>(by.size()) +
                         (reads && multiplies(graph, layers[i].nodes) ? layers[i].cycles : 0);
    }
    roundings.push_back(std::move(r));
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
  if (saturating_mul(cost, static_cast<int64_t>(samples.size())) > kSensitivityBudget)
    samples.resize(std::min<size_t>(samples.size(), 1));
  std::map<ir::ValueId, double> reach;
  const auto look = [&](ir::ValueId v, Tensor& t) {
    reach[v] = std::max(reach[v], calibration::magnitude(t));
  };
  for (const std::vector<Tensor>& inputs : samples) {
    auto ran = interp::run_visited(graph, inputs, look, false);
    if (!ran.ok()) return ran.error();
  }
  MRVLC_ASSIGN(const std::vector<double> errors,
               calibration::sensitivities(graph, samples, all, compared, options));
  for (size_t i = 0; i < errors.size(); ++i) {
    roundings[i].error = errors[i];
    for (auto& [value, pair] : roundings[i].pairs)
      if (const double most = reach[value]; most > kShiftFrom)
        pair.shift =
            std::min(partition::kMostShift, static_cast<int32_t>(std::ceil(std::log2(most / kShiftTo))));
  }
  return {};
}

}  // namespace mrvlc::driver
