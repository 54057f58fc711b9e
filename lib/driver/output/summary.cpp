// The last words of `mrvlc compile`: where the work went and what it takes, in eight lines, and one more
// where another partition is faster.
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "model/compiled_model.h"
#include "mrvlc/report/numbers.h"
#include "output/expected.h"
#include "output/size_report.h"

namespace mrvlc::driver {
namespace {

std::string count(int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

int64_t sum(const Json& regions, const char* field) {
  int64_t all = 0;
  for (const Json& r : regions) all += r.at(field).get<int64_t>();
  return all;
}

std::string head(const CompiledModel& m, const CompileOptions& options, const Json& r) {
  const Json& t = r.at("target");
  std::vector<std::string> names = {t.at("name").get<std::string>()};
  if (!m.libraries.rules.empty()) names = options.targets;
  const bool tiled = m.has_accelerator && m.machine().ocm_bytes != 0;
  std::string tiles = tiled ? ", " + count(t.at("tiles").get<int>(), "tile") : "";
  return fmt::format("wrote {}: {} for {}{}, {}", printable(options.out.string(), 4096), m.name,
                     fmt::join(names, ","), tiles, t.at("precision").get<std::string>());
}

std::string placement(const Json& p) {
  std::string text = fmt::format(
      "placement  {:.1f} % of {} MACs on the accelerator; of {} ONNX nodes {} there, {} on the CPU, {} "
      "folded",
      100 * p.at("mac_share_accelerator").get<double>(), p.at("macs").get<int64_t>(),
      p.at("onnx_nodes").get<int64_t>(), p.at("accelerator").get<int64_t>(), p.at("cpu").get<int64_t>(),
      p.at("folded").get<int64_t>());
  for (const Json& l : p.value("libraries", Json::array()))
    text += fmt::format("; {} of {}, {:.1f} % of the MACs", count(l.at("calls").get<int64_t>(), "call"),
                        l.at("target").get<std::string>(), 100 * l.at("mac_share").get<double>());
  return text;
}

std::string regions(const Json& r) {
  const Json& list = r.at("regions");
  if (list.empty()) return "regions    none";
  const Json& h = r.at("host");
  return fmt::format("regions    {} with {}; the host converts {} at their borders, about {:.3f} ms",
                     list.size(), count(sum(list, "layers"), "layer"),
                     report::bytes_text(h.at("conversion_bytes").get<int64_t>()),
                     1e3 * h.at("conversion_seconds_estimate").get<double>());
}

std::string cycles(const CompiledModel& m, const Json& list) {
  if (list.empty()) return "cycles     none: nothing runs on an accelerator";
  const int64_t all = sum(list, "cycles"), bound = sum(list, "lower_bound_cycles");
  double ms = 0;
  for (size_t i = 0; i < m.regions.size(); ++i)
    ms +=
        static_cast<double>(m.timings[i]->cycles()) / (1e6 * m.backend_of(m.regions[i]).machine().clock_ghz);
  if (all == 0) return "cycles     not known";
  if (m.accelerators.size() > 1) return fmt::format("cycles     {}, each target's own; {:.3f} ms", all, ms);
  if (bound == 0) return fmt::format("cycles     {}; {:.3f} ms at {} GHz", all, ms, m.machine().clock_ghz);
  double used = 0;  // cycles' worth of products
  for (const Json& region : list)
    used +=
        region.at("pod_utilization").get<double>() * static_cast<double>(region.at("cycles").get<int64_t>());
  return fmt::format(
      "cycles     {}, at least {} (x{:.2f}), pessimistic {}; {:.3f} ms at {} GHz, matrix units {:.1f} % used",
      all, bound, static_cast<double>(all) / static_cast<double>(bound), sum(list, "cycles_pessimistic"), ms,
      m.machine().clock_ghz, 100 * used / static_cast<double>(all));
}

std::string memory(const CompiledModel& m, const Json& r) {
  const Json& h = r.at("host");
  std::string text = fmt::format("memory     arena {}, weights {} on the host",
                                 report::bytes_text(h.at("arena_bytes").get<int64_t>()),
                                 report::bytes_text(h.at("weights_bytes").get<int64_t>()));
  const Json& list = r.at("regions");
  if (list.empty()) return text;
  int64_t peak = 0;
  for (const Json& region : list) peak = std::max(peak, region.at("ocm_peak_bytes").get<int64_t>());
  text += fmt::format(", {} on the accelerator", report::bytes_text(sum(list, "weights_bytes")));
  if (m.machine().ocm_bytes == 0 || m.accelerators.size() > 1) return text;
  return text + fmt::format("; on-chip {} of {} a tile", report::bytes_text(peak),
                            report::bytes_text(m.machine().ocm_bytes));
}

// Where another choice is expected to be faster, or was: what it is and how to ask for the other one.
std::optional<std::string> choice(const CompiledModel& m, const Json& r) {
  constexpr double kWorthTelling = 0.95;
  const Json& p = r.at("partition");
  const double now = p.at("seconds").get<double>(), host = p.at("seconds_host_only").get<double>(),
               greedily = p.at("seconds_greedy").get<double>();
  const auto ms = [](double seconds) { return fmt::format("{:.4g} ms", 1e3 * seconds); };
  if (!m.has_accelerator || m.timings.size() != m.regions.size()) return std::nullopt;
  if (p.at("mode") == "greedy") {
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

std::vector<std::string> summary(const CompiledModel& m, const CompileOptions& options, const Json& report,
                                 size_t warnings) {
  std::vector<std::string> lines = {head(m, options, report),
                                    "expected   " + expected_line(report.at("expected")),
                                    placement(report.at("placement")),
                                    regions(report),
                                    cycles(m, report.at("regions")),
                                    memory(m, report),
                                    fmt::format("warnings   {}", warnings),
                                    "accuracy   " + accuracy_line(report.at("accuracy"))};
  if (report.at("host").contains("size")) lines.push_back("size       " + code_size_line(report.at("host")));
  if (std::optional<std::string> more = choice(m, report)) lines.push_back(*std::move(more));
  return lines;
}

}  // namespace mrvlc::driver
