// Trial compiles of `compile --accuracy`.
#include "accuracy/trials.h"

#include <algorithm>

#include "accuracy/held.h"
#include "accuracy/probe.h"
#include "compile_hooks.h"

namespace mrvlc::driver {
namespace {

// What each layer takes of the time of its region's program.
void add_layer_cycles(const CompiledModel& m, size_t region, Trial& trial) {
  std::vector<sim::InstructionSpan> spans;
  for (const accel::InstructionRange& r : m.regions[region].instructions)
    if (r.section == accel::InstructionRange::Section::Main)
      spans.push_back({sim::Section::Main, r.begin, r.end, r.layer});
  const std::vector<partition::Layer>& layers = m.partition.regions[region].layers;
  for (const sim::LayerTime& t : sim::layer_times(m.runs[region].events, sim::Section::Main, spans))
    if (t.layer < layers.size()) trial.layers[layers[t.layer].anchor] += static_cast<double>(t.cycles);
}

Trial trial_of(const CompiledModel& m) {
  Trial trial;
  trial.error = m.accuracy.expected_error();
  trial.overflows = std::ranges::any_of(m.accuracy.beyond, [](const auto& b) { return !b.wide; });
  for (size_t i = 0; i < m.runs.size(); ++i) {
    trial.cycles += static_cast<double>(m.runs[i].total_cycles());
    add_layer_cycles(m, i, trial);
  }
  return trial;
}

}  // namespace

Trials::Trials(const CompileOptions& options) : options_(for_trial(options)) {
  options_.accuracy.reset();
  options_.objective = CompileOptions::Objective::Speed;
  options_.fail_on_fallback = options_.fail_on_accuracy = false;
  options_.probe = CompileOptions::Probe::Always;
}

std::optional<Trial> Trials::measure(const AccuracyChoice& choice) {
  std::optional<Trial> out;
  CompileHooks hooks;
  hooks.choice = choice;
  hooks.placed = [&](ir::Graph& graph, partition::Partition& partition) -> Status {
    if (!graph_) graph_ = graph, partition_ = partition;
    return {};
  };
  hooks.probed = [&](const CompiledModel& m, const Probe& probe) {
    if (m.accuracy.known() || !m.accuracy.on_accelerator) out = trial_of(m);
    if (!machine_) take(m, probe);
    return false;
  };
  Diagnostics said;  // again by the last compile
  compile(options_, said, hooks);
  ++runs_;
  return out;
}

void Trials::take(const CompiledModel& m, const Probe& probe) {
  machine_ = m.machine;
  samples_ = probe.inputs();
  compared_ = probe.compared();
  for (const accel::CompiledRegion& r : m.regions)
    for (const accel::LayerReport& l : r.layers) layer_cycles_.push_back(static_cast<double>(l.bound_cycles));
}

std::optional<RegionRoundings> Trials::roundings() const {
  RegionRoundings out(*graph_, *partition_, *machine_, layer_cycles_);
  const std::set<ir::SourceId> held = held_sources(*graph_, options_);
  for (RegionLayer& layer : out.layers) layer.held = any_held(*graph_, layer.nodes, held);
  std::vector<ir::ValueId> floats;
  for (ir::ValueId v : compared_.empty() ? graph_->outputs() : compared_)
    if (is_float(graph_->value(v).type.elem)) floats.push_back(v);
  if (!out.measure(*graph_, samples_, floats, options_.jobs).ok()) return std::nullopt;
  return out;
}

}  // namespace mrvlc::driver
