// Fills the page: regions with drawings and memory, steps in order, reasons of nodes on the CPU.
#include "output/report_page.h"

#include <algorithm>

#include "output/code_index.h"
#include "output/expected.h"
#include "output/expected_text.h"

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

std::vector<report::Step> steps(const std::vector<ReportedStep>& list,
                                const std::vector<report::Region>& regions) {
  std::vector<report::Step> out;
  for (const ReportedStep& s : list) {
    if (s.region) {
      const auto at = std::ranges::find(regions, *s.region, &report::Region::id);
      out.push_back({true, static_cast<uint32_t>(at - regions.begin()), 0, s.seconds});
    } else {
      out.push_back({false, 0, static_cast<uint32_t>(s.host_nodes.value_or(0)), s.seconds});
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

report::ExpectedRun expected_run(const ExpectedTime& e) {
  if (!e.device) return {};
  return {true, e.seconds, e.host_only, *e.device, e.launches, e.borders, e.host};
}

}  // namespace

std::vector<report::Region> report_regions(const CompiledModel& m) {
  const backend::CodeIndex index = index_of(m);
  std::vector<report::Region> out;
  for (size_t i = 0; i < m.regions.size(); ++i) out.push_back(page_region(m, i, index));
  return out;
}

report::Page report_page(const CompiledModel& m, const Report& report, const PlacedNodes& nodes,
                         std::vector<report::Region> regions) {
  report::Page p;
  p.model = m.name;
  p.sha256 = m.model.sha256;
  p.target = report.target.name;
  p.precision = report.target.precision;
  p.tiles = report.target.tiles;
  p.ocm_bytes = m.machine().ocm_bytes;
  p.clock_ghz = m.machine().clock_ghz;
  p.onnx_nodes = report.placement.onnx_nodes;
  p.on_accelerator = report.placement.accelerator;
  p.on_cpu = report.placement.cpu;
  p.folded = report.placement.folded;
  p.mac_share_accelerator = report.placement.mac_share_accelerator;
  p.arena_bytes = static_cast<uint64_t>(report.host.arena_bytes);
  p.arena_lower_bound_bytes = static_cast<uint64_t>(report.host.arena_lower_bound_bytes);
  p.host_weights_bytes = static_cast<uint64_t>(report.host.weights_bytes);
  p.macs = static_cast<uint64_t>(report.placement.macs);
  p.host_macs = static_cast<uint64_t>(report.host.macs);
  p.conversion_bytes = static_cast<uint64_t>(report.host.conversion_bytes);
  p.conversion_seconds = report.host.conversion_seconds_estimate;
  p.run = expected_run(report.expected);
  p.expected.push_back(partition_line(report.partition));
  for (std::string& line : expected_lines(report)) p.expected.push_back(std::move(line));
  p.expected_error = expected_error_text(report.accuracy);
  p.accuracy = accuracy_detail(report.accuracy);
  p.regions = std::move(regions);
  p.steps = steps(report.partition.steps, p.regions);
  add_fallbacks(m, nodes, p);
  return p;
}

}  // namespace mrvlc::driver
