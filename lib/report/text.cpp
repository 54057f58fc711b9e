// Tables for terminals.
#include <algorithm>

#include "mrvlc/report/report.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::report {
namespace {

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string bounds_line(const Region& r) {
  std::string out = "  bound by:";
  for (size_t b = 0; b < kBounds; ++b) {
    uint64_t cycles = 0;
    for (const Layer& l : r.layers) cycles += l.bound[b];
    out +=
        fmt::format("{} {} {:.1f} %", b == 0 ? "" : ",", bound_names()[b], 100 * share(cycles, r.cycles()));
  }
  return out + "\n";
}

// Of a target that tells no more.
std::string outline(const Region& r, size_t rows) {
  std::string out = fmt::format("region {}: {}, {} layers, {} MACs\n", r.id,
                                r.cycles() == 0 ? "cycles not known" : fmt::format("{} cycles", r.cycles()),
                                r.layers.size(), r.macs);
  const bool timed = std::ranges::any_of(r.layers, [](const Layer& l) { return l.cycles > 0; });
  for (size_t i = 0; i < std::min(rows, r.layers.size()); ++i) {
    const Layer& l = r.layers[i];
    if (timed) out += fmt::format("{:>10} {:>6.2f} %", l.cycles, 100 * share(l.cycles, r.cycles()));
    out += fmt::format("  {:<14} {}\n", printable(l.kind), printable(l.operators, 400));
  }
  if (r.layers.size() > rows) out += fmt::format("  {} more layers\n", r.layers.size() - rows);
  return out;
}

std::string region_lines(const Region& r) {
  const std::string doubted =
      r.pessimistic_cycles == 0 ? "" : fmt::format(", conservative {}", r.pessimistic_cycles);
  std::string out = fmt::format(
      "region {}: {} cycles (init {}, main {}, finish {}){}, lower bound {} (x{:.2f}); {} layers "
      "on {} tiles, matrix units {:.1f} % used, {:.1f} % busy\n",
      r.id, r.cycles(), r.init_cycles, r.main_cycles, r.finish_cycles, doubted, r.lower_bound_cycles,
      share(r.cycles(), r.lower_bound_cycles), r.layers.size(), r.tiles, 100 * r.pod_utilization,
      100 * r.pod_busy);
  out += fmt::format(
      "  {} MACs, {} executed, DDR read {} B, written {} B, code {} B, weights {} B, OCM peak {} B a tile "
      "(highest address {})\n",
      r.macs, r.executed_macs, r.ddr_read_bytes, r.ddr_write_bytes, r.fetched_bytes, r.weights_bytes,
      r.ocm_peak_bytes, r.ocm_highest_address_bytes);
  return out + bounds_line(r);
}

std::string row(const Region& r, const Layer& l) {
  size_t bound = main_bound(l.bound);
  std::string why = bound == kBounds ? "hidden"
                                     : fmt::format("{} {:.0f} %", bound_names()[bound],
                                                   100 * share(l.bound[bound], l.cycles));
  return fmt::format("{:>10} {:>6.2f}  {:<18} {:>6.1f} {:>12} {:>11} {:>11}  {:<14} {}\n", l.cycles,
                     100 * share(l.cycles, r.cycles()), why, 100 * l.mac_utilization, l.macs,
                     l.ddr_read_bytes, l.ddr_write_bytes, printable(l.kind), printable(l.operators, 400));
}

std::string table(const Region& r, size_t rows) {
  std::string out =
      fmt::format("{:>10} {:>6}  {:<18} {:>6} {:>12} {:>11} {:>11}  {:<14} {}\n", "cycles", "%", "bound by",
                  "MAC %", "MACs", "DDR read", "DDR write", "kind", "ONNX operators");
  std::vector<const Layer*> order;
  for (const Layer& l : r.layers) order.push_back(&l);
  std::ranges::stable_sort(order, std::greater<>{}, [](const Layer* l) { return l->cycles; });
  for (size_t i = 0; i < std::min(rows, order.size()); ++i) out += row(r, *order[i]);
  if (order.size() > rows) out += fmt::format("{:>10} more layers\n", order.size() - rows);
  return out;
}

}  // namespace

std::string profile_text(const std::vector<Region>& regions, size_t rows) {
  std::string out;
  for (const Region& r : regions) out += r.detailed ? region_lines(r) + table(r, rows) : outline(r, rows);
  return out;
}

}  // namespace mrvlc::report
