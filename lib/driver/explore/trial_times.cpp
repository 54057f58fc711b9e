// Cycles of layers, host nodes and conversions of a trial compile, by nodes that the quantiser knows.
#include "explore/trial_times.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "accuracy/quantized_model.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/partition/costs.h"
#include "mrvlc/support/diag/general.h"
#include "stages/stages.h"
#include "times/expected_times.h"

namespace mrvlc::driver {
namespace {

std::vector<partition::Crossing> borders_of(const ProbedModel& m) {
  if (!m.has_accelerator) return {};
  return crossings(m.model.graph, m.partition, *m.backend);
}

class Timer {
 public:
  // `order`: nodes of the network as they stand in its file.
  Timer(const ProbedModel& m, const std::vector<ir::NodeId>& order) : m_(m), order_(order) {
    for (const ir::Source& s : m.model.graph.sources()) of_source_.push_back(number_of(s));
  }

  quantize::Times run() {
    const ir::Graph& g = m_.model.graph;
    for (size_t r = 0; r < m_.partition.regions.size(); ++r) add_region(r);
    const std::vector<double> seconds = node_seconds(g, m_.inputs.host_model);
    for (const auto& d : m_.partition.decisions)
      if (!d.accelerator) add({d.node}, seconds[d.node.index()] * per_second());
    for (const partition::Crossing& c : borders_of(m_))
      add(g.value(c.value).users,
          crossing_seconds(m_.inputs.host_model, c, g.value(c.value).type.elements()) * per_second());
    out_.all = per_second() * expected_seconds(m_);
    return std::move(out_);
  }

 private:
  double per_second() const { return 1e9 * (m_.has_accelerator ? m_.machine().clock_ghz : 1); }

  // Of "main/17"; what lies in bodies has none.
  std::optional<size_t> number_of(const ir::Source& source) const {
    constexpr std::string_view kMain = "main/";
    const std::string_view id = source.id;
    if (!id.starts_with(kMain)) return std::nullopt;
    size_t number = 0;
    const char* const end = id.data() + id.size();
    const auto [at, error] = std::from_chars(id.data() + kMain.size(), end, number);
    return error == std::errc() && at == end && number < order_.size() ? std::optional(number) : std::nullopt;
  }

  void add_region(size_t r) {
    const std::vector<partition::Layer>& layers = m_.partition.regions[r].layers;
    for (const auto& [layer, cycles] : m_.timings[r]->layer_cycles(m_.regions[r].instructions))
      if (layer < layers.size()) add(layers[layer].nodes, static_cast<double>(cycles));
  }

  void add(const std::vector<ir::NodeId>& nodes, double time) {
    std::set<size_t> numbers;
    for (ir::NodeId n : nodes)
      for (ir::SourceId s : m_.model.graph.lineage(n).sources)
        if (const auto number = of_source_[s.index()]) numbers.insert(*number);
    quantize::Times::Part part{{}, time};
    for (size_t n : numbers) part.nodes.push_back(order_[n]);
    out_.parts.push_back(std::move(part));
  }

  const ProbedModel& m_;
  const std::vector<ir::NodeId>& order_;
  std::vector<std::optional<size_t>> of_source_;
  quantize::Times out_;
};

}  // namespace

double expected_seconds(const ProbedModel& m) {
  const ir::Graph& graph = m.model.graph;
  const partition::HostModel& host = m.inputs.host_model;
  return estimate(graph, m.partition, *m.backend, host, node_seconds(graph, host), borders_of(m),
                  [&](const partition::Region& r) { return region_seconds(m, r.id); })
      .seconds();
}

Result<quantize::Times> trial_times(const ir::Graph& graph, const CompileOptions& options,
                                    const QuantizedModel& stand_in) {
  auto model = std::make_shared<QuantizedModel>();
  model->files = stand_in.files;
  MRVLC_ASSIGN(model->bytes, onnx::to_onnx(graph, MRVLC_VERSION));
  CompileOptions trial = for_measuring(options, CompileOptions::Probe::Never);
  trial.quantized = model;
  const std::vector<ir::NodeId> order = graph.topological_order();
  Session session(trial);
  Said said;
  auto placed = placed_model(session, trial, {}, said);
  if (const auto made = placed ? probe_model(session, *std::move(placed), nullptr, said) : std::nullopt)
    return Timer(made->model, order).run();
  for (const Diag& d : said.diagnostics.list())
    if (d.severity() == Severity::Error) return d;
  return make_diag<DiagCode::MRV0004>("--precision auto: a trial cannot be compiled");
}

}  // namespace mrvlc::driver
