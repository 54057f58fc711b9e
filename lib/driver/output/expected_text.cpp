// Regions, values handed over and host operators by expected time, the longest first and the rest counted.
#include "output/expected_text.h"

#include <algorithm>
#include <map>

namespace mrvlc::driver {
namespace {

constexpr size_t kMostRegions = 20, kMostValues = 8, kMostOperators = 8;  // report.json has all

// Those that take longest, which is what a reader looks for.
std::vector<const ReportedCrossing*> longest(const std::vector<ReportedCrossing>& list) {
  std::vector<const ReportedCrossing*> out;
  for (const ReportedCrossing& c : list) out.push_back(&c);
  std::ranges::stable_sort(out, std::greater(), &ReportedCrossing::seconds);
  return out;
}

void add_in_flight(const ExpectedTime& e, std::vector<std::string>& lines) {
  if (!e.two_in_flight) return;
  const ReportedInFlight& f = *e.two_in_flight;
  lines.push_back(
      fmt::format("  inferences/s: {:.4g} one after the other, {:.4g} with two in flight (NAME_submit, "
                  "NAME_wait; bound by the "
                  "{}), {:.4g} of the device alone",
                  e.inferences_per_second.value_or(0), f.inferences_per_second, f.bound_by,
                  f.inferences_per_second_device));
}

void add_values(const std::vector<ReportedCrossing>& list, const char* way, std::vector<std::string>& lines) {
  const auto values = longest(list);
  for (size_t i = 0; i < std::min(kMostValues, values.size()); ++i) {
    const ReportedCrossing& v = *values[i];
    lines.push_back(fmt::format("    {} '{}': {}, {} B, {:.4f} ms", way, v.value, v.conversion, v.bytes,
                                1e3 * v.seconds));
  }
  if (values.size() > kMostValues)
    lines.push_back(fmt::format("    {} {} more values", way, values.size() - kMostValues));
}

void add_regions(const std::vector<ReportedRegion>& regions, std::vector<std::string>& lines) {
  for (size_t i = 0; i < std::min(kMostRegions, regions.size()); ++i) {
    const ReportedRegion& r = regions[i];
    lines.push_back(fmt::format("  region {}: about {:.4f} ms, {:.4f} of them its launch", r.id,
                                1e3 * r.seconds, 1e3 * r.launch_seconds));
    add_values(r.in, "in", lines);
    add_values(r.out, "out", lines);
  }
  if (regions.size() > kMostRegions)
    lines.push_back(fmt::format("  {} more regions", regions.size() - kMostRegions));
}

void add_operators(const std::vector<ReportedNode>& nodes, std::vector<std::string>& lines) {
  std::map<std::string, std::pair<double, size_t>> by_type;  // milliseconds, nodes
  for (const ReportedNode& n : nodes) {
    auto& [time, count] = by_type[n.op_type];
    time += 1e3 * n.seconds;
    ++count;
  }
  std::vector<std::pair<std::string, std::pair<double, size_t>>> order(by_type.begin(), by_type.end());
  std::ranges::stable_sort(order, std::greater(), [](const auto& o) { return o.second.first; });
  for (size_t i = 0; i < std::min(kMostOperators, order.size()); ++i)
    lines.push_back(fmt::format("  host: {} x {}, about {:.4f} ms", order[i].second.second, order[i].first,
                                order[i].second.first));
  if (order.size() > kMostOperators)
    lines.push_back(fmt::format("  host: {} more types of operators", order.size() - kMostOperators));
}

void add_winograd(const ReportedHost& host, std::vector<std::string>& lines) {
  if (host.winograd.empty()) return;
  double error = 0;
  int64_t bytes = 0;
  for (const ReportedWinograd& t : host.winograd) {
    error = std::max(error, t.error_estimate);
    bytes += t.weights_bytes;
  }
  lines.push_back(fmt::format(
      "  host: {} x Conv by Winograd's algorithm, rounding errors about {:.1e} of a result, {} B of "
      "transformed weights (--exact: none)",
      host.winograd.size(), error, bytes));
}

void add_half_weights(const ReportedHost& host, std::vector<std::string>& lines) {
  if (!host.half_weights) return;
  const ReportedHalfWeights& h = *host.half_weights;
  lines.push_back(
      fmt::format("  host: {} tensors of weights in fp16, {} B instead of {} B, rounded by at most {:.1e} of "
                  "a tensor's largest",
                  h.tensors, h.bytes, h.bytes_fp32, h.largest_error));
}

void add_states(const ReportedHost& host, std::vector<std::string>& lines) {
  for (const ReportedState& s : host.states)
    lines.push_back(fmt::format(
        "  host: state '{}' is output '{}' of the run before, {} B, {}", s.input, s.output, s.bytes,
        s.in_place ? "in place" : "copied at the end of a run: " + s.obstacle.value_or("")));
}

}  // namespace

std::vector<std::string> expected_lines(const Report& report) {
  std::vector<std::string> lines;
  add_in_flight(report.expected, lines);
  add_regions(report.regions, lines);
  add_operators(report.host.nodes, lines);
  add_winograd(report.host, lines);
  add_half_weights(report.host, lines);
  add_states(report.host, lines);
  return lines;
}

std::vector<std::vector<size_t>> by_reason(const std::vector<std::string>& reasons) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::string_view, size_t> group_of;
  for (size_t i = 0; i < reasons.size(); ++i) {
    const auto [it, fresh] = group_of.try_emplace(reasons[i], groups.size());
    if (fresh) groups.emplace_back();
    groups[it->second].push_back(i);
  }
  return groups;
}

}  // namespace mrvlc::driver
