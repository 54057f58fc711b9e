// report.json and report.txt.
#include <algorithm>
#include <map>

#include "accuracy/quantize_report.h"
#include "accuracy/quantized_model.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/printable.h"
#include "mrvlc/support/saturating.h"
#include "output/expected.h"
#include "output/expected_text.h"
#include "output/half_weights.h"
#include "output/partition_json.h"
#include "output/placed.h"
#include "output/size_report.h"

namespace mrvlc::driver {
namespace {

// Layers in report.txt, for each region; `mrvlc profile` prints all.
constexpr size_t kReportLayers = 20;
// Reasons for the CPU in report.txt, and nodes named for each; placement.json has all.
constexpr size_t kReportReasons = 1000, kReportNodes = 4;

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

Json placement_counts(const CompiledModel& m, const PlacedNodes& nodes) {
  size_t accelerator = 0, both = 0, cpu = 0, folded = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string_view where = nodes.where(i);
    both += where == "both";
    accelerator += where == "accelerator" || where == "both";
    cpu += where == "cpu";
    folded += where == "folded";
  }
  const Macs macs = macs_of(m);
  auto share = [&](int64_t part) {
    return macs.all() == 0 ? 0 : static_cast<double>(part) / static_cast<double>(macs.all());
  };
  Json libraries = Json::array();
  for (const partition::Library& library : m.libraries.rules) {
    const auto called = macs.libraries.find(library.target);
    const int64_t of_library = called == macs.libraries.end() ? 0 : called->second;
    libraries.push_back(
        {{"target", library.target},
         {"calls", std::ranges::count(m.partition.calls, library.target, &partition::Call::target)},
         {"macs", of_library},
         {"mac_share", share(of_library)}});
  }
  Json out = {{"onnx_nodes", nodes.size()},
              {"accelerator", accelerator},
              {"both", both},
              {"cpu", cpu},
              {"folded", folded},
              {"macs", macs.all()},
              {"macs_accelerator", macs.accelerator},
              {"macs_cpu", macs.cpu},
              {"mac_share_accelerator", share(macs.accelerator)}};
  if (!libraries.empty()) out["libraries"] = std::move(libraries);
  return out;
}

Json region_json(const CompiledModel& m, const backend::RegionCode& c, const report::Region& r) {
  Json layer_macs = Json::array();
  for (const report::Layer& l : r.layers) layer_macs.push_back(l.macs);
  Json out = {{"id", r.id},
              {"file", r.file},
              {"layers", r.layers.size()},
              {"macs", r.macs},
              {"executed_macs", r.executed_macs},
              {"layer_macs", std::move(layer_macs)},
              {"cycles", r.cycles()},
              {"cycles_pessimistic", r.pessimistic_cycles},
              {"lower_bound_cycles", r.lower_bound_cycles},
              {"ddr_read_bytes", r.ddr_read_bytes},
              {"ddr_write_bytes", r.ddr_write_bytes},
              {"fetched_bytes", r.fetched_bytes},
              {"ocm_peak_bytes", r.ocm_peak_bytes},
              {"ocm_highest_address_bytes", r.ocm_highest_address_bytes},
              {"ocm_tensor_peak_bytes", c.ocm_tensor_peak_bytes},
              {"ocm_tensor_lower_bound_bytes", c.ocm_tensor_lower_bound_bytes},
              {"weights_bytes", r.weights_bytes},
              {"pod_utilization", r.pod_utilization},
              {"pod_busy", r.pod_busy}};
  if (m.accelerators.size() > 1) out["target"] = m.accelerators[c.accelerator].name;
  return out;
}

Json host_json(const CompiledModel& m, const CompileOptions& options) {
  Json conversions = Json::array();
  int64_t bytes = 0;
  double seconds = 0;
  for (const chost::Conversion& c : m.host.conversions) {
    bytes += c.host_bytes + c.device_bytes;
    seconds += conversion_seconds(m, c);
    conversions.push_back({{"region", c.region},
                           {"value", idmap::json_text(c.name)},
                           {"to", c.to_device ? "accelerator" : "host"},
                           {"permuted", c.permutes},
                           {"elements", c.elements},
                           {"host_bytes", c.host_bytes},
                           {"device_bytes", c.device_bytes}});
  }
  Json transformed = Json::array();
  for (const chost::Transformed& t : m.host.transformed) {
    transformed.push_back({{"expr_id", t.expr.index()},
                           {"name", idmap::json_text(t.name)},
                           {"tile", t.tile},
                           {"error_estimate", t.error},
                           {"weights_bytes", t.weights_bytes}});
  }
  Json out = {{"arena_bytes", m.host.arena_bytes},
              {"arena_lower_bound_bytes", m.host.arena_lower_bound_bytes},
              {"weights_bytes", m.host.weights_bytes},
              {"weights", chost::kWeightsAs[static_cast<size_t>(m.host.weights)]},
              {"macs", macs_of(m).cpu},
              {"conversion_bytes", bytes},
              {"conversion_seconds_estimate", seconds},
              {"conversions", std::move(conversions)},
              {"winograd", std::move(transformed)}};
  if (m.size) out["size"] = code_size_json(m);
  if (options.host.host_weights == chost::WeightType::F16) out["half_weights"] = half_weights_json(m);
  if (!options.tuning.empty())
    out["tuning"] = {{"layers", m.host.choices.size()},
                     {"tuned", std::ranges::count_if(m.host.choices, &chost::LayerChoice::tuned)}};
  return out;
}

// Nodes with one reason: "on the CPU: main/2 'g2' (Gemm), 32 MACs: Why.", or "on the CPU: 9 nodes, main/2
// 'g2' (Gemm), ... and 5 more, 320 MACs: Why.".
std::string fallback_line(const PlacedNodes& nodes, const std::vector<size_t>& group) {
  int64_t macs = 0;
  for (size_t i : group) macs = saturating_add(macs, nodes.macs(i));
  std::string names;
  for (size_t k = 0; k < std::min(kReportNodes, group.size()); ++k) {
    const ir::Source& s = nodes.source(group[k]);
    names += fmt::format("{}{} '{}' ({})", k == 0 ? "" : ", ", s.id, idmap::json_text(s.name),
                         idmap::json_text(s.op_type));
  }
  if (group.size() > 1) names = fmt::format("{} nodes, {}", group.size(), names);
  if (group.size() > kReportNodes) names += fmt::format(" and {} more", group.size() - kReportNodes);
  return fmt::format("on the CPU: {}{}: {}\n", names, macs == 0 ? "" : fmt::format(", {} MACs", macs),
                     nodes.reason(group.front()));
}

std::string fallback_lines(const PlacedNodes& nodes) {
  std::vector<size_t> found;
  std::vector<std::string> reasons;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes.on_cpu(i)) continue;
    found.push_back(i);
    reasons.push_back(nodes.reason(i));
  }
  std::vector<std::vector<size_t>> groups = by_reason(reasons);
  std::string out;
  for (size_t g = 0; g < std::min(kReportReasons, groups.size()); ++g) {
    for (size_t& i : groups[g]) i = found[i];
    out += fallback_line(nodes, groups[g]);
  }
  if (groups.size() <= kReportReasons) return out;
  return out +
         fmt::format("{} more reasons for the CPU: placement.json has all\n", groups.size() - kReportReasons);
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
Json model_json(const CompiledModel& m) {
  Json out = {{"name", m.name}, {"sha256", m.model.sha256}};
  if (m.model.graph.metadata == nullptr) return out;
  for (const ir::Described& part : m.model.graph.metadata->parts) {
    if (part.of != "model") continue;
    for (const auto& [key, value] : part.properties)
      out["metadata"][idmap::json_text(key.str())] = printable_lines(value.str());
  }
  return out;
}

}  // namespace

Json report_json(const CompiledModel& m, const CompileOptions& options, const PlacedNodes& nodes,
                 const std::vector<report::Region>& regions) {
  Json list = Json::array();
  for (size_t i = 0; i < regions.size(); ++i) list.push_back(region_json(m, m.regions[i], regions[i]));
  Json r;
  r["schema"] = "mrvlc-report-1";
  r["model"] = model_json(m);
  r["target"] = {{"name", m.has_accelerator ? m.machine().name : "host"},
                 {"tiles", m.has_accelerator ? options.accelerator.tiles : 0},
                 {"precision", precision_of(m, options)}};
  if (options.quantized != nullptr) r["quantization"] = quantization_json(options.quantized->report);
  r["placement"] = placement_counts(m, nodes);
  r["regions"] = std::move(list);
  r["host"] = host_json(m, options);
  r["accuracy"] = accuracy_json(m.accuracy, options);
  return r;
}

std::string report_text(const Json& r, const PlacedNodes& nodes, const std::vector<report::Region>& regions) {
  const Json& p = r.at("placement");
  std::string out = fmt::format(
      "model {}  target {}  tiles {}  precision {}\n"
      "{} ONNX nodes: {} on the accelerator, {} on the CPU, {} folded; {:.2f} % of the MACs on the "
      "accelerator ({} of {})\n",
      r["model"]["name"].get<std::string>(), printable(r["target"]["name"].get<std::string>()),
      r["target"]["tiles"].get<int>(), r["target"]["precision"].get<std::string>(),
      p["onnx_nodes"].get<int64_t>(), p["accelerator"].get<int64_t>(), p["cpu"].get<int64_t>(),
      p["folded"].get<int64_t>(), 100 * p["mac_share_accelerator"].get<double>(),
      p["macs_accelerator"].get<int64_t>(), p["macs"].get<int64_t>());
  out += "expected: " + expected_line(r.at("expected")) + "\n";
  const Json& h = r.at("host");
  out += fmt::format("host: arena {} B (lower bound {} B), weights {} B, {} MACs\n",
                     h["arena_bytes"].get<int64_t>(), h["arena_lower_bound_bytes"].get<int64_t>(),
                     h["weights_bytes"].get<int64_t>(), h["macs"].get<int64_t>());
  if (h.contains("size")) out += code_size_lines(h);
  out += fmt::format("borders: {} values converted by the host, {} B read and written, about {:.3f} ms\n",
                     h["conversions"].size(), h["conversion_bytes"].get<int64_t>(),
                     1e3 * h["conversion_seconds_estimate"].get<double>());
  out += "partition: " + partition_line(r.at("partition")) + "\n";
  for (const std::string& line : expected_lines(r)) out += line + "\n";
  if (r.contains("quantization")) out += "quantization: " + quantization_line(r.at("quantization")) + "\n";
  out += "accuracy: " + accuracy_line(r.at("accuracy")) + "\n";
  out += report::profile_text(regions, kReportLayers);
  return r["target"]["name"] == "host" && !r["placement"].contains("libraries") ? out
                                                                                : out + fallback_lines(nodes);
}

}  // namespace mrvlc::driver
