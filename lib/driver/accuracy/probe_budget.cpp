// Numbers of samples by what a run is expected to take.
#include "accuracy/probe_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "accuracy/run_cost.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::driver {
namespace {

constexpr size_t kSamples = 2;  // seeds 1, 2, ...
// Of small models more: an error that is relative to outputs depends on how near to zero they come.
constexpr size_t kMoreSamples = 8;
// Seconds that more than two, two, or a single one may take on one core; docs/accuracy.md.
constexpr double kMoreSeconds = 0.6, kTwoSeconds = 1, kOneSecond = 6;
// The same, where there are samples of data: who gives data waits for an answer.
constexpr double kDataSeconds = 12;
// What --probe may take is the interpreter's limit.
constexpr int64_t kRoom = int64_t{512} << 20;

size_t affordable(double seconds, double each, size_t most) {
  const double n = seconds / std::max(each, 1e-9);
  return n >= static_cast<double>(most) ? most : static_cast<size_t>(n);
}

size_t samples_for(double each, size_t kept, size_t choices) {
  if (kept > 0) return affordable(kDataSeconds, each, kept);
  if (const size_t many = affordable(kMoreSeconds, each, kMoreSamples); many > kSamples) return many;
  if (const size_t few = affordable(kTwoSeconds, each, std::max(kSamples, choices)); few >= kSamples)
    return few;
  return affordable(kOneSecond, each, 1);
}

int64_t all_macs(const ir::Graph& graph) {
  int64_t macs = 0;
  for (ir::NodeId id : graph.topological_order())
    if (ir::bodies_of(graph.node(id)).empty()) macs = saturating_add(macs, ops::macs(graph, graph.node(id)));
  return macs;
}

}  // namespace

bool probes_always(const CompileOptions& options) {
  return options.probe == CompileOptions::Probe::Always ||
         (chooses(options) && options.probe != CompileOptions::Probe::Never);
}

interp::Options room_of(const CompileOptions& options) {
  return probes_always(options) ? interp::Options{} : interp::Options{kRoom};
}

ProbePlan plan_probe(const PlacedModel& m, const CompileOptions& options, size_t kept, size_t choices) {
  const ir::Graph& graph = m.model.graph;
  const auto none = [](std::string why) { return ProbePlan{0, std::move(why), std::nullopt}; };
  if (all_regions(graph, m.partition).empty()) return none("nothing runs on an accelerator");
  if (!m.backend->runs_here()) return none("nothing for " + m.machine().name + " runs here");
  if (options.probe == CompileOptions::Probe::Never) return none("--no-probe");
  if (Status room = interp::check_memory(graph, room_of(options)); !room.ok())
    return none("not probed: a run " + room.error().message);
  const std::optional<RunWork> work = run_work(graph, m.partition);
  ProbePlan plan;
  if (work) plan.each = work->seconds();
  if (probes_always(options)) {
    const bool small = plan.each && *plan.each * static_cast<double>(kMoreSamples) <= kMoreSeconds;
    plan.samples = kept > 0 ? kept : std::max(small ? kMoreSamples : kSamples, choices);
    return plan;
  }
  if (!work) return none("not probed: how often a Loop runs depends on data, --probe runs it anyway");
  plan.samples = samples_for(*plan.each, kept, choices);
  if (plan.samples == 0)
    plan.why_not = fmt::format(
        "not probed: {} multiply-accumulates, with everything else about {:.1f} s of work, exceed the budget "
        "of "
        "{:g} s; --probe runs it anyway",
        all_macs(graph), *plan.each, kept > 0 ? kDataSeconds : kOneSecond);
  return plan;
}

double share_of_macs(const PlacedModel& m) {
  double all = 0, taken = 0;
  const auto add = [&](const ir::Graph& graph, const partition::Partition* p) {
    all += static_cast<double>(all_macs(graph));
    if (p == nullptr) return;
    for (const partition::Region& region : p->regions)
      for (const partition::Layer& layer : region.layers)
        for (ir::NodeId n : layer.nodes) taken += static_cast<double>(ops::macs(graph, graph.node(n)));
  };
  add(m.model.graph, &m.partition);
  ir::for_each_body(m.model.graph,
                    [&](const ir::Graph& body) { add(body, partition_of(m.partition, body)); });
  return all > 0 ? taken / all : 0;
}

}  // namespace mrvlc::driver
