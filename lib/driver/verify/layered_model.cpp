// Compiles with the values between layers as outputs, as often as the ports of regions ask for, and runs
// that.
#include "verify/layered_model.h"

#include <algorithm>

#include "explore/choose.h"
#include "explore/fit.h"
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

bool has_regions(const ir::Graph& graph, const partition::Partition& partition, ir::NodeId node) {
  return std::ranges::any_of(ir::bodies_of(graph.node(node)), [&](const ir::Graph* body) {
    const partition::Partition* of_body = partition_of(partition, *body);
    if (of_body != nullptr && !of_body->regions.empty()) return true;
    for (size_t i = 0; i < body->node_slots(); ++i)
      if (!body->node(ir::NodeId(i)).erased && has_regions(*body, partition, ir::NodeId(i))) return true;
    return false;
  });
}

std::vector<LayerUnit> units_of(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<LayerUnit> units;
  for (const partition::Step& step : partition.steps) {
    if (step.kind != partition::Step::Kind::Region) {
      units.push_back({std::nullopt, has_regions(graph, partition, step.node), nodes_of(step, partition),
                       results_of(graph, step.node)});
      continue;
    }
    for (const partition::Layer& layer : partition.regions[step.region].layers)
      units.push_back({step.region, false, layer.nodes, results_of(graph, layer.nodes.back())});
  }
  return units;
}

void make_output(ir::Graph& graph, ir::ValueId id) {
  if (!graph.is_output(id)) graph.add_output(id);
}

// As a compile with these options places it, to be compiled as it is.
std::optional<PlacedModel> placed_for_layers(Session& session, const CompileOptions& options, Said& said) {
  auto fork = Fork::open(session, options, said);
  if (!fork) return std::nullopt;
  const auto choice = chooses(options) ? choose_for_accuracy(session, *fork).choice
                                       : fitting_choice(session, *fork, fork->options());
  CompileOptions parts = fork->options();
  parts.objective = CompileOptions::Objective::Speed;
  parts.accuracy.reset();  // of outputs alone, not of all the values that are made such here
  parts.probe = CompileOptions::Probe::Never;
  parts.fail_on_fallback = parts.fail_on_accuracy = false;
  return fork->place(session, parts, choice, said);
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

Result<std::optional<LayeredModel>> LayeredModel::create(const CompileOptions& options,
                                                         Diagnostics& diagnostics, const LayerOptions& layers,
                                                         const RunOptions& run,
                                                         const std::filesystem::path& folder) {
  LayeredModel out;
  CompileOptions compile = options;
  compile.out = folder / "part0";
  Session session(compile);
  Said said;
  const auto placed = placed_for_layers(session, compile, said);
  for (const Diag& d : said.diagnostics.list()) diagnostics.add(d);
  if (!placed) return std::optional<LayeredModel>();
  MRVLC_TRY(out.look_at(placed->model.graph, placed->partition, placed->machine()));
  if (options.host.host_weights == chost::WeightType::F16) {
    std::vector<ir::Graph> none;
    out.rounded_ = placed->model.graph;
    chost::round_weights(*out.rounded_, placed->partition, none);
  }
  for (size_t part = 0; part < out.parts_needed(); ++part) {
    PlacedModel exposed = *placed;
    exposed.options.out = folder / fmt::format("part{}", part);
    MRVLC_TRY(out.expose(exposed.model.graph, exposed.partition, part));
    const std::vector<ir::ValueId> outputs = exposed.model.graph.outputs();
    uint32_t region = 0;
    const ShowCode damage = [&](backend::RegionCode& code) {
      if (layers.damage) layers.damage(region++, code);
    };
    Said of_part;
    auto probed = probe_model(session, std::move(exposed), nullptr, of_part, damage);
    const auto done =
        probed ? finish_model(session, *std::move(probed), std::nullopt, of_part) : std::nullopt;
    if (!done && part > 0) return of_part.diagnostics.list().back();
    // The first part says all there is to say.
    for (const Diag& d : of_part.diagnostics.list())
      if (part == 0) diagnostics.add(d);
    if (!done) return std::optional<LayeredModel>();
    MRVLC_ASSIGN(OutputFolder written, open_output(done->model.options.out));
    MRVLC_ASSIGN(Program program, Program::build(run, std::move(written)));
    out.parts_.push_back({std::move(program), outputs});
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
