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
  const std::vector<partition::Layer>& layers = m.partition.regions[region].layers;
  for (const auto& [layer, cycles] : m.timings[region]->layer_cycles(m.regions[region].instructions))
    if (layer < layers.size()) trial.layers[layers[layer].anchor] += static_cast<double>(cycles);
}

Trial trial_of(const CompiledModel& m) {
  Trial trial;
  trial.error = m.accuracy.expected_error();
  trial.overflows = std::ranges::any_of(m.accuracy.beyond, [](const auto& b) { return !b.wide; });
  for (size_t i = 0; i < m.timings.size(); ++i) {
    trial.cycles += static_cast<double>(m.timings[i]->cycles());
    if (i < m.partition.regions.size()) add_layer_cycles(m, i, trial);  // layers of bodies are not chosen
  }
  return trial;
}

}  // namespace

Trials::Trials(const CompileOptions& options)
    : options_(for_measuring(options, CompileOptions::Probe::Always)) {}

std::optional<Trial> Trials::measure(const AccuracyChoice& choice) {
  std::optional<Trial> out;
  CompileHooks hooks;
  hooks.choice = choice;
  hooks.placed = [&](ir::Graph& graph, partition::Partition& partition, const target::Machine&) -> Status {
    if (!graph_) graph_ = graph, partition_ = partition;
    return {};
  };
  hooks.probed = [&](const CompiledModel& m, const Probe& probe) {
    if (m.accuracy.known() || !m.accuracy.on_accelerator) out = trial_of(m);
    if (!backend_) take(m, probe);
    return false;
  };
  Diagnostics said;  // again by the last compile
  compile(options_, said, hooks);
  ++runs_;
  return out;
}

void Trials::take(const CompiledModel& m, const Probe& probe) {
  backend_ = m.backend;
  samples_ = probe.inputs();
  compared_ = probe.compared();
  for (const backend::RegionCode& r : m.regions)
    for (const backend::LayerReport& l : r.layers)
      layer_cycles_.push_back(static_cast<double>(l.bound_cycles));
}

std::optional<RegionRoundings> Trials::roundings() const {
  RegionRoundings out(*graph_, *partition_, *backend_, layer_cycles_);
  const std::set<ir::SourceId> held = held_sources(*graph_, options_);
  for (RegionLayer& layer : out.layers) layer.held = any_held(*graph_, layer.nodes, held);
  std::vector<ir::ValueId> floats;
  for (ir::ValueId v : compared_.empty() ? graph_->outputs() : compared_)
    if (is_float(graph_->value(v).type.elem)) floats.push_back(v);
  if (!out.measure(*graph_, samples_, floats, options_.jobs).ok()) return std::nullopt;
  return out;
}

}  // namespace mrvlc::driver
