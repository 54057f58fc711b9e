// The last words of `mrvlc compile`: where the work went and what it takes, in eight lines, and one more
// each for states, for sizes, and where another partition is faster.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "mrvlc/report/numbers.h"
#include "output/expected.h"
#include "output/output.h"
#include "output/size_report.h"

namespace mrvlc::driver {
namespace {

std::string count(int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

template <class T>
int64_t sum(const std::vector<ReportedRegion>& regions, T ReportedRegion::*member) {
  uint64_t all = 0;
  for (const ReportedRegion& r : regions) all += r.*member;
  return static_cast<int64_t>(all);
}

std::string head(const CompiledModel& m, const CompileOptions& options, const ReportedTarget& t) {
  std::vector<std::string> names = {t.name};
  if (!m.libraries.rules.empty()) names = options.targets;
  const bool tiled = m.has_accelerator && m.machine().ocm_bytes != 0;
  std::string tiles = tiled ? ", " + count(t.tiles, "tile") : "";
  return fmt::format("wrote {}: {} for {}{}, {}", printable(options.out.string(), 4096), m.name,
                     fmt::join(names, ","), tiles, t.precision);
}

std::string placement(const ReportedPlacement& p) {
  std::string text = fmt::format(
      "placement  {:.1f} % of {} MACs on the accelerator; of {} ONNX nodes {} there, {} on the CPU, {} "
      "folded",
      100 * p.mac_share_accelerator, p.macs, p.onnx_nodes, p.accelerator, p.cpu, p.folded);
  for (const ReportedLibrary& l : p.libraries)
    text +=
        fmt::format("; {} of {}, {:.1f} % of the MACs", count(l.calls, "call"), l.target, 100 * l.mac_share);
  return text;
}

std::string regions(const Report& r) {
  if (r.regions.empty()) return "regions    none";
  return fmt::format("regions    {} with {}; the host converts {} at their borders, about {:.3f} ms",
                     r.regions.size(), count(sum(r.regions, &ReportedRegion::layers), "layer"),
                     report::bytes_text(r.host.conversion_bytes), 1e3 * r.host.conversion_seconds_estimate);
}

std::string cycles(const CompiledModel& m, const std::vector<ReportedRegion>& list) {
  if (list.empty()) return "cycles     none: nothing runs on an accelerator";
  const int64_t all = sum(list, &ReportedRegion::cycles),
                bound = sum(list, &ReportedRegion::lower_bound_cycles);
  double ms = 0;
  for (size_t i = 0; i < m.regions.size(); ++i)
    ms +=
        static_cast<double>(m.timings[i]->cycles()) / (1e6 * m.backend_of(m.regions[i]).machine().clock_ghz);
  if (all == 0) return "cycles     not known";
  if (m.accelerators.size() > 1) return fmt::format("cycles     {}, each target's own; {:.3f} ms", all, ms);
  if (bound == 0) return fmt::format("cycles     {}; {:.3f} ms at {} GHz", all, ms, m.machine().clock_ghz);
  double used = 0;  // cycles' worth of products
  for (const ReportedRegion& region : list)
    used += region.pod_utilization * static_cast<double>(region.cycles);
  return fmt::format(
      "cycles     {}, at least {} (x{:.2f}), conservative {}; {:.3f} ms at {} GHz, matrix units {:.1f} % "
      "used",
      all, bound, static_cast<double>(all) / static_cast<double>(bound),
      sum(list, &ReportedRegion::cycles_pessimistic), ms, m.machine().clock_ghz,
      100 * used / static_cast<double>(all));
}

std::string memory(const CompiledModel& m, const Report& r) {
  std::string text =
      fmt::format("memory     arena {}, weights {} on the host", report::bytes_text(r.host.arena_bytes),
                  report::bytes_text(r.host.weights_bytes));
  if (r.regions.empty()) return text;
  uint64_t peak = 0;
  for (const ReportedRegion& region : r.regions) peak = std::max(peak, region.ocm_peak_bytes);
  text += fmt::format(", {} on the accelerator",
                      report::bytes_text(sum(r.regions, &ReportedRegion::weights_bytes)));
  if (m.machine().ocm_bytes == 0 || m.accelerators.size() > 1) return text;
  return text + fmt::format("; on-chip {} of {} a tile", report::bytes_text(static_cast<int64_t>(peak)),
                            report::bytes_text(m.machine().ocm_bytes));
}

// Of --state; -v, and the reports, tell of each.
std::string states(const std::vector<ReportedState>& all) {
  constexpr size_t kMostNamed = 4;
  int64_t bytes = 0;
  std::vector<std::string> named;
  for (const ReportedState& s : all) {
    bytes += s.bytes;
    if (named.size() < kMostNamed) named.push_back(fmt::format("{} <- {}", s.input, s.output));
  }
  if (all.size() > kMostNamed) named.push_back(fmt::format("{} more", all.size() - kMostNamed));
  const auto in_place = static_cast<size_t>(std::ranges::count(all, true, &ReportedState::in_place));
  const std::string how = in_place == all.size() ? "in place"
                          : in_place == 0        ? "copied at the end of a run"
                                                 : fmt::format("{} in place, {} copied at the end of a run",
                                                               in_place, all.size() - in_place);
  return fmt::format("states     {} of {}, {}: {}", all.size(), report::bytes_text(bytes), how,
                     fmt::join(named, ", "));
}

// Where another choice is expected to be faster, or was: what it is and how to ask for the other one.
std::optional<std::string> choice(const CompiledModel& m, const ReportedPartition& p) {
  constexpr double kWorthTelling = 0.95;
  const double now = p.seconds, host = p.seconds_host_only, greedily = p.seconds_greedy;
  const auto ms = [](double seconds) { return fmt::format("{:.4g} ms", 1e3 * seconds); };
  if (!m.has_accelerator || m.timings.size() != m.regions.size()) return std::nullopt;
  if (p.mode == "greedy") {
    if (m.regions.empty() || host >= kWorthTelling * now) return std::nullopt;
    return fmt::format(
        "partition  greedy, about {}; the host alone is expected to take {}: --partition cost leaves it what "
        "is cheaper there",
        ms(now), ms(host));
  }
  const auto given_back =
      std::ranges::count(m.partition.decisions, partition::Why::CheaperOnHost, &partition::NodeDecision::why);
  if (given_back == 0) return std::nullopt;
  return fmt::format(
      "partition  by cost, about {}, greedily {}: {} cheaper on the host (cheaper-on-host); --accel NODE or "
      "--partition greedy sends {} to the accelerator",
      ms(now), ms(greedily), count(given_back, "operator") + (given_back == 1 ? " is" : " are"),
      given_back == 1 ? "it" : "them");
}

}  // namespace

std::vector<std::string> summary(const CompiledModel& m, const CompileOptions& options, const Report& report,
                                 size_t warnings) {
  std::vector<std::string> lines = {head(m, options, report.target),
                                    "expected   " + expected_line(report.expected),
                                    placement(report.placement),
                                    regions(report),
                                    cycles(m, report.regions),
                                    memory(m, report),
                                    fmt::format("warnings   {}", warnings),
                                    "accuracy   " + accuracy_line(report.accuracy)};
  if (!report.host.states.empty()) lines.push_back(states(report.host.states));
  if (report.host.size) lines.push_back("size       " + code_size_line(*report.host.size));
  if (std::optional<std::string> more = choice(m, report.partition)) lines.push_back(*std::move(more));
  return lines;
}

}  // namespace mrvlc::driver
