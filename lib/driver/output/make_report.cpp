// The report of a compile: what its stages made, counted.
#include "output/make_report.h"

#include <algorithm>
#include <map>

#include "accuracy/quantized_model.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/printable.h"
#include "mrvlc/support/saturating.h"
#include "output/gates.h"
#include "output/half_weights.h"
#include "output/size_report.h"
#include "times/expected_times.h"

namespace mrvlc::driver {
namespace {

struct Macs {
  int64_t accelerator = 0, cpu = 0;  // cpu: libraries count here
  std::map<std::string, int64_t> libraries;
  int64_t all() const { return saturating_add(accelerator, cpu); }
};

Macs macs_of(const CompiledModel& m) {
  Macs macs;
  for (const auto& d : m.partition.decisions) {
    const int64_t of_node = ops::macs(m.model.graph, m.model.graph.node(d.node));
    int64_t& part = d.accelerator ? macs.accelerator : macs.cpu;
    part = saturating_add(part, of_node);
    if (d.call == partition::NodeDecision::kNoCall) continue;
    int64_t& called = macs.libraries[m.partition.calls[d.call].target];
    called = saturating_add(called, of_node);
  }
  // Those of bodies were counted with their node.
  for (const auto& [graph, rounds, placed] : m.partition.bodies) {
    for (const auto& d : placed.decisions) {
      if (!d.accelerator) continue;
      const int64_t of_node = saturating_mul(rounds, ops::macs(*graph, graph->node(d.node)));
      macs.accelerator = saturating_add(macs.accelerator, of_node);
      macs.cpu -= std::min(macs.cpu, of_node);
    }
  }
  return macs;
}

ReportedPlacement placement_counts(const CompiledModel& m, const PlacedNodes& nodes, const Macs& macs) {
  ReportedPlacement out{.onnx_nodes = nodes.size()};
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string_view where = nodes.where(i);
    out.both += where == "both";
    out.accelerator += where == "accelerator" || where == "both";
    out.cpu += where == "cpu";
    out.folded += where == "folded";
  }
  auto share = [&](int64_t part) {
    return macs.all() == 0 ? 0 : static_cast<double>(part) / static_cast<double>(macs.all());
  };
  out.macs = macs.all();
  out.macs_accelerator = macs.accelerator;
  out.macs_cpu = macs.cpu;
  out.mac_share_accelerator = share(macs.accelerator);
  for (const partition::Library& library : m.libraries.rules) {
    const auto called = macs.libraries.find(library.target);
    const int64_t of_library = called == macs.libraries.end() ? 0 : called->second;
    out.libraries.push_back({library.target,
                             std::ranges::count(m.partition.calls, library.target, &partition::Call::target),
                             of_library, share(of_library)});
  }
  return out;
}

ReportedRegion region_of(const CompiledModel& m, const backend::RegionCode& c, const report::Region& r) {
  ReportedRegion out;
  out.id = r.id;
  out.file = r.file;
  out.layers = r.layers.size();
  out.macs = r.macs;
  out.executed_macs = r.executed_macs;
  for (const report::Layer& l : r.layers) out.layer_macs.push_back(l.macs);
  out.cycles = r.cycles();
  out.cycles_pessimistic = r.pessimistic_cycles;
  out.lower_bound_cycles = r.lower_bound_cycles;
  out.ddr_read_bytes = r.ddr_read_bytes;
  out.ddr_write_bytes = r.ddr_write_bytes;
  out.fetched_bytes = r.fetched_bytes;
  out.ocm_peak_bytes = r.ocm_peak_bytes;
  out.ocm_highest_address_bytes = r.ocm_highest_address_bytes;
  out.ocm_tensor_peak_bytes = c.ocm_tensor_peak_bytes;
  out.ocm_tensor_lower_bound_bytes = c.ocm_tensor_lower_bound_bytes;
  out.weights_bytes = r.weights_bytes;
  out.pod_utilization = r.pod_utilization;
  out.pod_busy = r.pod_busy;
  if (m.accelerators.size() > 1) out.target = m.accelerators[c.accelerator].name;
  return out;
}

ReportedHost host_of(const CompiledModel& m, const CompileOptions& options, const Macs& macs) {
  ReportedHost out;
  out.arena_bytes = m.host.arena_bytes;
  out.arena_lower_bound_bytes = m.host.arena_lower_bound_bytes;
  out.weights_bytes = m.host.weights_bytes;
  out.weights = chost::kWeightsAs[static_cast<size_t>(m.host.weights)];
  out.macs = macs.cpu;
  for (const chost::Conversion& c : m.host.conversions) {
    out.conversion_bytes += c.host_bytes + c.device_bytes;
    out.conversion_seconds_estimate += conversion_seconds(m, c);
    out.conversions.push_back({c.region, idmap::json_text(c.name), c.to_device ? "accelerator" : "host",
                               c.permutes, c.elements, c.host_bytes, c.device_bytes});
  }
  for (const chost::Transformed& t : m.host.transformed)
    out.winograd.push_back({t.expr.index(), idmap::json_text(t.name), t.tile, t.error, t.weights_bytes});
  for (const chost::StateUse& s : m.host.states) {
    out.states.push_back(
        {idmap::json_text(s.input), idmap::json_text(s.output), s.bytes, s.obstacle.empty(), {}});
    if (!s.obstacle.empty()) out.states.back().obstacle = s.obstacle;
  }
  if (m.size) out.size = reported_size(m);
  if (options.host.host_weights == chost::WeightType::F16) out.half_weights = reported_half_weights(m);
  if (!options.tuning.empty())
    out.tuning = {m.host.choices.size(), std::ranges::count_if(m.host.choices, &chost::LayerChoice::tuned)};
  return out;
}

// Products of integers and of floats in the graph; those of bodies count with their node, as floats.
std::string_view precision_of(const ir::Graph& graph, std::string_view floats) {
  bool integers = false, others = false;
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& n = graph.node(id);
    const bool integer = n.is(Op::QLinearConv, Op::ConvInteger, Op::QLinearMatMul, Op::MatMulInteger);
    integers = integers || integer;
    others = others || (!integer && ops::macs(graph, n) > 0);
  }
  if (!integers) return floats;
  return others ? "mixed" : "int8";
}

std::string_view precision_of(const CompiledModel& m, const CompileOptions& options) {
  const std::string_view floats = m.has_accelerator && m.backend->half() ? "fp16" : "fp32";
  if (options.quantized == nullptr) return precision_of(m.model.graph, floats);
  const std::vector<quantize::LayerReport>& layers = options.quantized->report.layers;
  if (std::ranges::all_of(layers, &quantize::LayerReport::integers)) return "int8";
  return std::ranges::any_of(layers, &quantize::LayerReport::integers) ? "mixed" : floats;
}

// What the model says of itself; of its graph and functions idmap.json does.
ReportedModel model_of(const CompiledModel& m) {
  ReportedModel out{m.name, m.model.sha256};
  if (m.model.graph.metadata == nullptr) return out;
  std::map<std::string, size_t> at;
  for (const ir::Described& part : m.model.graph.metadata->parts) {
    if (part.of != "model") continue;
    for (const auto& [key, value] : part.properties) {
      if (!out.metadata) out.metadata.emplace();
      const auto [entry, fresh] = at.try_emplace(idmap::json_text(key.str()), out.metadata->size());
      if (fresh) out.metadata->push_back({entry->first, {}});
      (*out.metadata)[entry->second].second.text = printable_lines(value.str());
    }
  }
  return out;
}

ReportedQuantization quantization_of(const quantize::Report& q) {
  return {.layers = q.layers.size(),
          .layers_in_integers = std::ranges::count_if(q.layers, &quantize::LayerReport::integers),
          .samples = static_cast<size_t>(q.samples),
          .validation = static_cast<size_t>(q.validation),
          .error = q.error,
          .float_weight_bytes = q.float_weight_bytes,
          .weight_bytes = q.weight_bytes,
          .choice = q.choice};
}

}  // namespace

Report make_report(const CompiledModel& m, const CompileOptions& options, const PlacedNodes& nodes,
                   const std::vector<report::Region>& regions) {
  const Macs macs = macs_of(m);
  Report r;
  r.model = model_of(m);
  r.target = {m.has_accelerator ? m.machine().name : "host",
              m.has_accelerator ? options.accelerator.tiles : 0, std::string(precision_of(m, options))};
  if (options.quantized != nullptr) r.quantization = quantization_of(options.quantized->report);
  r.placement = placement_counts(m, nodes, macs);
  for (size_t i = 0; i < regions.size(); ++i) r.regions.push_back(region_of(m, m.regions[i], regions[i]));
  r.host = host_of(m, options, macs);
  r.accuracy = reported(m.accuracy, options);
  add_expected_times(r, m, options);
  r.gates = judged(options.gates, r, m.accuracy);
  return r;
}

}  // namespace mrvlc::driver
