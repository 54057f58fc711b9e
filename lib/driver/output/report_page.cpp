// Fills the page: regions with drawings and memory, steps in order, reasons of nodes on the CPU.
#include "output/report_page.h"

#include <algorithm>

#include "output/code_index.h"
#include "output/expected_text.h"
#include "output/partition_json.h"

namespace mrvlc::driver {
namespace {

report::Region page_region(const CompiledModel& m, size_t i, const backend::CodeIndex& index) {
  const backend::RegionCode& compiled = m.regions[i];
  report::Region r = m.timings[i]->profile(index, static_cast<uint32_t>(i), /*drawing=*/true);
  r.file = fmt::format("{}.region{}.mrvl", m.name, r.id);
  r.macs = static_cast<uint64_t>(compiled.macs);
  r.lower_bound_cycles = compiled.lower_bound_cycles;
  r.weights_bytes = static_cast<uint64_t>(compiled.weights_bytes);
  r.ocm_peak_bytes = static_cast<uint64_t>(compiled.ocm_peak_bytes);
  r.ocm_highest_address_bytes = static_cast<uint64_t>(compiled.ocm_highest_address_bytes);
  for (const backend::LayerReport& l : compiled.layers) {
    if (l.layer >= r.layers.size()) continue;
    r.layers[l.layer].cut = l.cut;
    r.layers[l.layer].macs = static_cast<uint64_t>(l.macs);
    r.layers[l.layer].weights_bytes = static_cast<uint64_t>(l.weight_bytes);
  }
  r.memory = m.timings[i]->memory(compiled.memory_uses);
  return r;
}

std::vector<report::Step> steps(const Json& partition, const std::vector<report::Region>& regions) {
  std::vector<report::Step> out;
  for (const Json& s : partition.at("steps")) {
    const auto seconds = s.at("seconds").get<double>();
    if (s.contains("region")) {
      const auto at = std::ranges::find(regions, s.at("region").get<uint32_t>(), &report::Region::id);
      out.push_back({true, static_cast<uint32_t>(at - regions.begin()), 0, seconds});
    } else {
      out.push_back({false, 0, s.at("host_nodes").get<uint32_t>(), seconds});
    }
  }
  return out;
}

// With --target host everything is on the CPU, and there is nothing to explain.
void add_fallbacks(const CompiledModel& m, const PlacedNodes& nodes, report::Page& page) {
  if (!m.has_accelerator) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes.on_cpu(i)) continue;
    if (page.fallbacks.size() >= report::Limits{}.fallbacks) {
      ++page.more_fallbacks;
      continue;
    }
    const ir::Source& s = nodes.source(i);
    const std::string& name = s.name.empty() && !s.outputs.empty() ? s.outputs[0] : s.name;
    page.fallbacks.push_back({s.id, idmap::json_text(name), idmap::json_text(s.op_type), nodes.reason(i)});
  }
}

report::ExpectedRun expected_run(const Json& e) {
  if (e.at("seconds_device").is_null()) return {};
  const auto of = [&](const char* key) { return e.at(key).get<double>(); };
  return {true,
          of("seconds"),
          of("seconds_host_only"),
          of("seconds_device"),
          of("seconds_launches"),
          of("seconds_borders"),
          of("seconds_host")};
}

}  // namespace

std::vector<report::Region> report_regions(const CompiledModel& m) {
  const backend::CodeIndex index = index_of(m);
  std::vector<report::Region> out;
  for (size_t i = 0; i < m.regions.size(); ++i) out.push_back(page_region(m, i, index));
  return out;
}

report::Page report_page(const CompiledModel& m, const Json& report, const PlacedNodes& nodes,
                         std::vector<report::Region> regions) {
  report::Page p;
  p.model = m.name;
  p.sha256 = m.model.sha256;
  p.target = report.at("target").at("name").get<std::string>();
  p.precision = report.at("target").at("precision").get<std::string>();
  p.tiles = report.at("target").at("tiles").get<uint32_t>();
  p.ocm_bytes = m.machine().ocm_bytes;
  p.clock_ghz = m.machine().clock_ghz;
  const Json& place = report.at("placement");
  p.onnx_nodes = place.at("onnx_nodes").get<uint64_t>();
  p.on_accelerator = place.at("accelerator").get<uint64_t>();
  p.on_cpu = place.at("cpu").get<uint64_t>();
  p.folded = place.at("folded").get<uint64_t>();
  p.mac_share_accelerator = place.at("mac_share_accelerator").get<double>();
  const Json& host = report.at("host");
  p.arena_bytes = host.at("arena_bytes").get<uint64_t>();
  p.arena_lower_bound_bytes = host.at("arena_lower_bound_bytes").get<uint64_t>();
  p.host_weights_bytes = host.at("weights_bytes").get<uint64_t>();
  p.macs = place.at("macs").get<uint64_t>();
  p.host_macs = host.at("macs").get<uint64_t>();
  p.conversion_bytes = host.at("conversion_bytes").get<uint64_t>();
  p.conversion_seconds = host.at("conversion_seconds_estimate").get<double>();
  p.run = expected_run(report.at("expected"));
  p.expected.push_back(partition_line(report.at("partition")));
  for (std::string& line : expected_lines(report)) p.expected.push_back(std::move(line));
  p.expected_error = expected_error_text(report.at("accuracy"));
  p.accuracy = accuracy_detail(report.at("accuracy"));
  p.regions = std::move(regions);
  p.steps = steps(report.at("partition"), p.regions);
  add_fallbacks(m, nodes, p);
  return p;
}

}  // namespace mrvlc::driver
