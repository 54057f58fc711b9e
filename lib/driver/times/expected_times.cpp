// Times of the report. Cycles of the accelerator are those that the simulator counts; the host's are by the
// host model.
#include "times/expected_times.h"

#include <algorithm>
#include <set>
#include <utility>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/partition/costs.h"
#include "times/in_flight.h"

namespace mrvlc::driver {
namespace {

using partition::Times;

std::vector<ReportedCrossing> crossings(const CompiledModel& m, uint32_t region, bool to_device) {
  std::vector<ReportedCrossing> list;
  for (const chost::Conversion& c : m.host.conversions) {
    if (c.region != region || c.to_device != to_device) continue;
    const char* how = c.casts && c.permutes ? "cast and permuted" : c.casts ? "cast" : "permuted";
    list.push_back({idmap::json_text(c.name), c.host_bytes + c.device_bytes, how, conversion_seconds(m, c)});
  }
  return list;
}

// Of a large model the report has those that take longest.
constexpr size_t kMostHostNodes = 4096;

std::vector<const partition::NodeDecision*> nodes_shown(const CompiledModel& m, const Times& times) {
  std::vector<const partition::NodeDecision*> shown;
  for (const auto& d : m.partition.decisions) {
    if (!d.accelerator) shown.push_back(&d);
  }
  if (shown.size() <= kMostHostNodes) return shown;
  // Of equal ones the first.
  const auto key = [&](const auto* d) { return std::pair(-times.nodes[d->node.index()], d); };
  std::ranges::nth_element(shown, shown.begin() + kMostHostNodes, {}, key);
  shown.resize(kMostHostNodes);
  std::ranges::sort(shown);  // as they stand in the list of decisions
  return shown;
}

// What follows each other on the host is one step of the report; by step of the partition, which.
std::vector<size_t> step_numbers(const partition::Partition& p) {
  std::vector<size_t> numbers;
  bool host = false;
  for (const partition::Step& s : p.steps) {
    const bool region = s.kind == partition::Step::Kind::Region;
    const bool joins = host && !region;
    numbers.push_back(numbers.empty() ? 0 : numbers.back() + (joins ? 0 : 1));
    host = !region;
  }
  return numbers;
}

std::vector<ReportedStep> steps_of(const CompiledModel& m, const Times& times) {
  const std::vector<size_t> numbers = step_numbers(m.partition);
  std::vector<ReportedStep> list;
  // What was made of one ONNX node, an operator that was taken apart, is one.
  std::set<std::vector<ir::SourceId>> host_nodes;
  double seconds = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const partition::Step& s = m.partition.steps[i];
    if (s.kind == partition::Step::Kind::Region) {
      list.push_back({.region = m.partition.regions[s.region].id, .seconds = times.regions[s.region].all()});
      continue;
    }
    for (ir::NodeId node : nodes_of(s, m.partition)) {
      host_nodes.insert(m.model.graph.lineage(node).sources);
      seconds += times.nodes[node.index()];
    }
    if (i + 1 < numbers.size() && numbers[i + 1] == numbers[i]) continue;
    list.push_back(
        {.host_nodes = std::exchange(host_nodes, {}).size(), .seconds = std::exchange(seconds, 0.0)});
  }
  return list;
}

// By node; those of regions have none.
std::vector<size_t> step_of_nodes(const CompiledModel& m) {
  const std::vector<size_t> numbers = step_numbers(m.partition);
  std::vector<size_t> out(m.model.graph.node_slots(), 0);
  for (size_t i = 0; i < numbers.size(); ++i)
    for (ir::NodeId node : nodes_of(m.partition.steps[i], m.partition)) out[node.index()] = numbers[i];
  return out;
}

std::vector<ReportedNode> host_nodes(const CompiledModel& m, const Times& times) {
  const std::vector<size_t> steps = step_of_nodes(m);
  const partition::HostKernels kernels(m.model.graph, m.inputs.host_model.tiles);
  std::vector<ReportedNode> list;
  for (const partition::NodeDecision* d : nodes_shown(m, times)) {
    const ir::Node& n = m.model.graph.node(d->node);
    list.push_back({m.model.graph.expr_id(d->node), idmap::json_text(n.name), std::string(n.op->name),
                    std::string(word(d->why)), steps[d->node.index()],
                    host_rate(m.inputs.host_model, n, partition::host_form(kernels, n)),
                    times.nodes[d->node.index()]});
  }
  return list;
}

// What a partition takes, of the model or of a body. `all`: what its nodes would all take on the host.
struct Estimate {
  Times times;
  double all = 0;
};

Estimate estimate_of(const CompiledModel& m, const ir::Graph& graph, const partition::Partition& partition) {
  Estimate out;
  std::vector<double> nodes = node_seconds(graph, m.inputs.host_model);
  for (double s : nodes) out.all += s;
  time_calls(partition.calls, nodes);
  std::vector<partition::Crossing> borders;
  for (const chost::Conversion& c : m.host.conversions)
    if (c.region - partition.first_region < partition.regions.size()) borders.push_back(c);
  out.times = estimate(graph, partition, *m.backend, m.inputs.host_model, nodes, borders,
                       [&](const partition::Region& r) { return region_seconds(m, r.id); });
  return out;
}

// Who spends most of the time.
std::string bound_by(const ExpectedTime& t) {
  const std::pair<double, const char*> parts[] = {
      {t.device.value_or(0), "device"}, {t.launches, "launches"}, {t.borders, "borders"}, {t.host, "host"}};
  return std::ranges::max_element(parts, {}, [](const auto& p) { return p.first; })->second;
}

// A region without cycles: its target does not tell.
void add_region(const Times::OfRegion& r, double rounds, ExpectedTime& out) {
  if (r.accelerator == 0) out.device.reset();
  if (out.device) *out.device += rounds * r.accelerator;
  out.launches += rounds * r.launch;
  out.borders += rounds * r.borders;
}

}  // namespace

double region_seconds(const ProbedModel& m, size_t region) {
  const auto cycles = static_cast<double>(m.timings[region]->cycles());
  return cycles / (1e9 * m.backend_of(m.regions[region]).machine().clock_ghz);
}

double conversion_seconds(const CompiledModel& m, const chost::Conversion& c) {
  return crossing_seconds(m.inputs.host_model, c, c.elements);
}

void add_expected_times(Report& report, const CompiledModel& m, const CompileOptions& options) {
  const auto [times, host_only] = estimate_of(m, m.model.graph, m.partition);
  ExpectedTime& expected = report.expected;
  expected = {.seconds = times.seconds(), .host_only = host_only, .device = 0.0, .host = times.host};
  expected.host_model = idmap::json_text(m.inputs.host_model.description);
  std::vector<Times::OfRegion> of_regions = times.regions;
  // A node of control flow was counted as if its bodies ran on the host.
  for (const partition::BodyPartition& body : m.partition.bodies) {
    const auto [inner, on_host] = estimate_of(m, *body.graph, body.partition);
    const auto rounds = static_cast<double>(body.rounds);
    expected.seconds += rounds * (inner.seconds() - on_host);
    expected.host += rounds * (inner.host - on_host);
    for (const Times::OfRegion& r : inner.regions) add_region(r, rounds, expected);
    of_regions.insert(of_regions.end(), inner.regions.begin(), inner.regions.end());
  }
  for (const Times::OfRegion& r : times.regions) add_region(r, 1, expected);
  if (expected.device) expected.bound_by = bound_by(expected);
  if (expected.device && expected.seconds > 0)
    expected.inferences_per_second = static_cast<double>(options.import.batch) / expected.seconds;
  expected.two_in_flight = expected_in_flight(m, expected, static_cast<double>(options.import.batch));
  const bool by_cost = m.has_accelerator && options.partition_by == CompileOptions::PartitionBy::Cost;
  // Equal choices are timed by the same figures.
  const bool greedy = !by_cost || m.partition.chosen_seconds == m.partition.greedy_seconds;
  report.partition = {by_cost ? "cost" : "greedy",
                      expected.seconds,
                      host_only,
                      greedy ? expected.seconds : m.partition.greedy_seconds,
                      expected.host,
                      steps_of(m, times)};
  for (ReportedRegion& r : report.regions) {
    r.seconds = of_regions[r.id].all();
    r.launch_seconds = of_regions[r.id].launch;
    r.in = crossings(m, r.id, true);
    r.out = crossings(m, r.id, false);
  }
  report.host.nodes = host_nodes(m, times);
}

}  // namespace mrvlc::driver
