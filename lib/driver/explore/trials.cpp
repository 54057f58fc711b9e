// Trial compiles of `compile --accuracy`.
#include "explore/trials.h"

#include <algorithm>

#include "accuracy/pinned_sources.h"
#include "explore/trial_times.h"

namespace mrvlc::driver {
namespace {

// What each layer takes of the time of its region's program.
void add_layer_cycles(const ProbedModel& m, size_t region, Trial& trial) {
  const std::vector<partition::Layer>& layers = m.partition.regions[region].layers;
  for (const auto& [layer, cycles] : m.timings[region]->layer_cycles(m.regions[region].instructions))
    if (layer < layers.size()) trial.layers[layers[layer].anchor] += static_cast<double>(cycles);
}

}  // namespace

Trial trial_of(const ProbedModel& m) {
  Trial trial;
  trial.error = m.accuracy.expected_error();
  trial.overflows = std::ranges::any_of(m.accuracy.beyond, [](const auto& b) { return !b.wide; });
  for (size_t i = 0; i < m.timings.size(); ++i) {
    trial.cycles += static_cast<double>(m.timings[i]->cycles());
    if (i < m.partition.regions.size()) add_layer_cycles(m, i, trial);  // layers of bodies are not chosen
  }
  trial.seconds = expected_seconds(m);
  return trial;
}

AccuracyTrials::AccuracyTrials(Session& session, const Fork& from)
    : from_(from),
      options_(for_measuring(from.options(), CompileOptions::Probe::Always)),
      session_(session) {}

void AccuracyTrials::look_at(const Probed& first) {
  first_ = first.probe;
  for (const backend::RegionCode& r : first.model.regions)
    for (const backend::LayerReport& l : r.layers)
      layer_cycles_.push_back(static_cast<double>(l.bound_cycles));
}

std::optional<Trial> AccuracyTrials::measure(const AccuracyChoice& choice) {
  ++runs_;
  last_.reset();
  Said said;
  auto placed = from_.place(session_, options_, choice, said);
  if (!placed) return std::nullopt;
  if (!placed_) placed_ = *placed;
  auto probed = probe_model(session_, *std::move(placed), first_ ? &*first_ : nullptr, said);
  if (!probed) return std::nullopt;
  if (!first_) look_at(*probed);
  const Accuracy& accuracy = probed->model.accuracy;
  if (!accuracy.known() && accuracy.on_accelerator) return std::nullopt;
  last_ = Made{choice, *std::move(probed), std::move(said)};
  return trial_of(last_->probed.model);
}

// What is on the CPU for a choice says what was asked for, which a trial does not know; nor does it print.
std::optional<Made> AccuracyTrials::made(const AccuracyChoice& choice) && {
  if (!last_ || !from_.options().dump_ir.empty() || !choice.on_cpu.empty() || !last_->choice.on_cpu.empty() ||
      last_->choice.precisions != choice.precisions)
    return std::nullopt;
  return std::move(last_);
}

std::optional<RegionRoundings> AccuracyTrials::roundings() const {
  const ir::Graph& graph = placed_->model.graph;
  RegionRoundings out(graph, placed_->partition, *placed_->backend, layer_cycles_);
  const std::set<ir::SourceId> held = pinned_sources(graph, options_);
  for (RegionLayer& layer : out.layers) layer.held = any_pinned(graph, layer.nodes, held);
  const std::vector<ir::ValueId>& compared = first_->compared();
  std::vector<ir::ValueId> floats;
  for (ir::ValueId v : compared.empty() ? graph.outputs() : compared)
    if (is_float(graph.value(v).type.elem)) floats.push_back(v);
  if (!out.measure(graph, first_->inputs(), floats, options_.jobs).ok()) return std::nullopt;
  return out;
}

}  // namespace mrvlc::driver
