// report.txt: the report for people, its slowest layers, and why nodes are on the CPU.
#include <algorithm>

#include "mrvlc/support/printable.h"
#include "mrvlc/support/saturating.h"
#include "output/expected.h"
#include "output/expected_text.h"
#include "output/make_report.h"
#include "output/size_report.h"

namespace mrvlc::driver {
namespace {

// Layers in report.txt, for each region; `mrvlc profile` prints all.
constexpr size_t kReportLayers = 20;
// Reasons for the CPU in report.txt, and nodes named for each; placement.json has all.
constexpr size_t kReportReasons = 1000, kReportNodes = 4;

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

std::string quantization_line(const ReportedQuantization& q) {
  std::string out =
      fmt::format("{} of {} layers in integers, weights {} B ({} in float32), error {:.2g} on {} samples",
                  q.layers_in_integers, q.layers, q.weight_bytes, q.float_weight_bytes, q.error, q.samples);
  if (!q.choice) return out;
  const quantize::ChoiceReport& c = *q.choice;
  out += fmt::format("; asked {:g}, in floats {:.2g}, all in integers {:.2g}", c.asked, c.error_of_floats,
                     c.error_of_integers);
  if (!c.time) return out;
  return out + fmt::format("; as long as {:.0f} cycles, in floats {:.0f}, all in integers {:.0f}", *c.time,
                           c.time_of_floats.value_or(0), c.time_of_integers.value_or(0));
}

}  // namespace

std::string report_text(const Report& r, const PlacedNodes& nodes,
                        const std::vector<report::Region>& regions) {
  const ReportedPlacement& p = r.placement;
  std::string out = fmt::format(
      "model {}  target {}  tiles {}  precision {}\n"
      "{} ONNX nodes: {} on the accelerator, {} on the CPU, {} folded; {:.2f} % of the MACs on the "
      "accelerator ({} of {})\n",
      r.model.name, printable(r.target.name), r.target.tiles, r.target.precision, p.onnx_nodes, p.accelerator,
      p.cpu, p.folded, 100 * p.mac_share_accelerator, p.macs_accelerator, p.macs);
  out += "expected: " + expected_line(r.expected) + "\n";
  const ReportedHost& h = r.host;
  out += fmt::format("host: arena {} B (lower bound {} B), weights {} B, {} MACs\n", h.arena_bytes,
                     h.arena_lower_bound_bytes, h.weights_bytes, h.macs);
  if (h.size) out += code_size_lines(*h.size);
  out += fmt::format("borders: {} values converted by the host, {} B read and written, about {:.3f} ms\n",
                     h.conversions.size(), h.conversion_bytes, 1e3 * h.conversion_seconds_estimate);
  out += "partition: " + partition_line(r.partition) + "\n";
  for (const std::string& line : expected_lines(r)) out += line + "\n";
  if (r.quantization) out += "quantization: " + quantization_line(*r.quantization) + "\n";
  out += "accuracy: " + accuracy_line(r.accuracy) + "\n";
  out += report::profile_text(regions, kReportLayers);
  return r.target.name == "host" && r.placement.libraries.empty() ? out : out + fallback_lines(nodes);
}

}  // namespace mrvlc::driver
