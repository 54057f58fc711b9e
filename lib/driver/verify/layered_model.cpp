// Compiles with the values between layers as outputs, as often as the ports of regions ask for, and runs
// that.
#include "verify/layered_model.h"

#include <algorithm>

#include "accuracy/fit.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

bool is_plain(const ir::Graph& graph, ir::ValueId id) {
  return graph.value(id).type.wrapper == Wrapper::None && graph.use_count(id) > 0;
}

std::vector<ir::ValueId> results_of(const ir::Graph& graph, ir::NodeId node) {
  std::vector<ir::ValueId> out;
  for (ir::ValueId v : graph.node(node).outputs)
    if (v.valid() && is_plain(graph, v)) out.push_back(v);
  return out;
}

std::vector<LayerUnit> units_of(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<LayerUnit> units;
  for (const partition::Step& step : partition.steps) {
    if (step.kind != partition::Step::Kind::Region) {
      units.push_back({std::nullopt, nodes_of(step, partition), results_of(graph, step.node)});
      continue;
    }
    for (const partition::Layer& layer : partition.regions[step.region].layers)
      units.push_back({step.region, layer.nodes, results_of(graph, layer.nodes.back())});
  }
  return units;
}

void make_output(ir::Graph& graph, ir::ValueId id) {
  if (!graph.is_output(id)) graph.add_output(id);
}

}  // namespace

Status LayeredModel::look_at(const ir::Graph& graph, const partition::Partition& partition,
                             const target::Machine& machine) {
  const size_t ports = machine.max_ports;
  graph_ = graph;
  units_ = units_of(graph, partition);
  hidden_.resize(partition.regions.size());
  for (const partition::Region& region : partition.regions)
    room_.push_back(ports - std::min(ports, region.outputs.size()));
  for (const LayerUnit& unit : units_) {
    if (!unit.region) continue;
    const auto& seen = partition.regions[*unit.region].outputs;
    for (ir::ValueId v : unit.outputs)
      if (std::ranges::find(seen, v) == seen.end()) hidden_[*unit.region].push_back(v);
  }
  return {};
}

size_t LayeredModel::parts_needed() const {
  size_t parts = 1;
  for (size_t r = 0; r < hidden_.size(); ++r)
    if (room_[r] > 0) parts = std::max(parts, (hidden_[r].size() + room_[r] - 1) / room_[r]);
  return parts;
}

// What other steps see anyway is an output of the first part.
Status LayeredModel::expose(ir::Graph& graph, partition::Partition& partition, size_t part) const {
  for (const LayerUnit& unit : units_) {
    if (part > 0) break;
    for (ir::ValueId v : unit.outputs) {
      const bool hidden =
          unit.region && std::ranges::find(hidden_[*unit.region], v) != hidden_[*unit.region].end();
      if (!hidden) make_output(graph, v);
    }
  }
  for (size_t r = 0; r < hidden_.size(); ++r) {
    const size_t begin = std::min(hidden_[r].size(), part * room_[r]);
    const size_t end = std::min(hidden_[r].size(), begin + room_[r]);
    for (size_t i = begin; i < end; ++i) {
      partition.regions[r].outputs.push_back(hidden_[r][i]);
      make_output(graph, hidden_[r][i]);
    }
  }
  return {};
}

Result<std::optional<LayeredModel>> LayeredModel::create(CompileOptions options, Diagnostics& diagnostics,
                                                         const LayerOptions& layers, const RunOptions& run,
                                                         const std::filesystem::path& folder) {
  LayeredModel out;
  std::optional<AccuracyChoice> choice;
  choice = chooses(options) ? choose_for_accuracy(options) : fitting_choice(options);
  options.objective = CompileOptions::Objective::Speed;
  options.accuracy.reset();  // of outputs alone, not of all the values that are made such here
  options.probe = CompileOptions::Probe::Never;
  options.fail_on_fallback = options.fail_on_accuracy = false;
  for (size_t part = 0, parts = 1; part < parts; ++part) {
    Diagnostics again;  // the first compile says all there is to say
    std::vector<ir::ValueId> outputs;
    uint32_t region = 0;
    CompileHooks hooks;
    hooks.choice = choice;
    hooks.placed = [&](ir::Graph& graph, partition::Partition& partition,
                       const target::Machine& machine) -> Status {
      if (part == 0) MRVLC_TRY(out.look_at(graph, partition, machine));
      if (part == 0 && options.host_weights == chost::WeightType::F16) {
        std::vector<ir::Graph> none;
        out.rounded_ = graph;
        chost::round_weights(*out.rounded_, partition, none);
      }
      MRVLC_TRY(out.expose(graph, partition, part));
      outputs = graph.outputs();
      return {};
    };
    hooks.coded = [&](backend::RegionCode& compiled) {
      if (layers.damage) layers.damage(region, compiled);
      ++region;
    };
    options.out = folder / fmt::format("part{}", part);
    if (!compile(options, part == 0 ? diagnostics : again, hooks)) {
      if (part > 0) return again.list().back();
      return std::optional<LayeredModel>();
    }
    parts = out.parts_needed();
    MRVLC_ASSIGN(OutputFolder written, open_output(options.out));
    MRVLC_ASSIGN(Program program, Program::build(run, std::move(written)));
    out.parts_.push_back({std::move(program), std::move(outputs)});
  }
  return std::optional<LayeredModel>(std::move(out));
}

Result<LayeredModel::Values> LayeredModel::run(const std::vector<Tensor>& inputs) const {
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph_->inputs()[i]] = inputs[i];
  for (const Part& part : parts_) {
    MRVLC_ASSIGN(std::vector<Tensor> results, part.program.run(inputs));
    for (size_t i = 0; i < results.size(); ++i) values[part.outputs[i]] = std::move(results[i]);
  }
  return values;
}

}  // namespace mrvlc::driver
