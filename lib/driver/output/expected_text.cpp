// Regions, values handed over and host operators by expected time, the longest first and the rest counted.
#include "output/expected_text.h"

#include <algorithm>
#include <map>

namespace mrvlc::driver {
namespace {

constexpr size_t kMostRegions = 20, kMostValues = 8, kMostOperators = 8;  // report.json has all

double milliseconds(const Json& j, const char* field = "seconds") {
  return 1e3 * j.at(field).get<double>();
}

// Those that take longest, which is what a reader looks for.
std::vector<const Json*> longest(const Json& list) {
  std::vector<const Json*> out;
  for (const Json& j : list) out.push_back(&j);
  std::ranges::stable_sort(out, std::greater(), [](const Json* j) { return milliseconds(*j); });
  return out;
}

void add_values(const Json& list, const char* way, std::vector<std::string>& lines) {
  const std::vector<const Json*> values = longest(list);
  for (size_t i = 0; i < std::min(kMostValues, values.size()); ++i) {
    const Json& v = *values[i];
    lines.push_back(fmt::format("    {} '{}': {}, {} B, {:.4f} ms", way, v.at("value").get<std::string>(),
                                v.at("conversion").get<std::string>(), v.at("bytes").get<int64_t>(),
                                milliseconds(v)));
  }
  if (values.size() > kMostValues)
    lines.push_back(fmt::format("    {} {} more values", way, values.size() - kMostValues));
}

void add_regions(const Json& regions, std::vector<std::string>& lines) {
  for (size_t i = 0; i < std::min(kMostRegions, regions.size()); ++i) {
    const Json& r = regions[i];
    lines.push_back(fmt::format("  region {}: about {:.4f} ms, {:.4f} of them its launch",
                                r.at("id").get<int64_t>(), milliseconds(r),
                                milliseconds(r, "launch_seconds")));
    add_values(r.at("in"), "in", lines);
    add_values(r.at("out"), "out", lines);
  }
  if (regions.size() > kMostRegions)
    lines.push_back(fmt::format("  {} more regions", regions.size() - kMostRegions));
}

void add_operators(const Json& nodes, std::vector<std::string>& lines) {
  std::map<std::string, std::pair<double, size_t>> by_type;  // milliseconds, nodes
  for (const Json& n : nodes) {
    auto& [time, count] = by_type[n.at("op_type").get<std::string>()];
    time += milliseconds(n);
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

// Nothing of a report of an earlier version.
void add_winograd(const Json& host, std::vector<std::string>& lines) {
  if (!host.contains("winograd") || host.at("winograd").empty()) return;
  double error = 0;
  int64_t bytes = 0;
  for (const Json& t : host.at("winograd")) {
    error = std::max(error, t.at("error_estimate").get<double>());
    bytes += t.at("weights_bytes").get<int64_t>();
  }
  lines.push_back(fmt::format(
      "  host: {} x Conv by Winograd's algorithm, rounding errors about {:.1e} of a result, {} B of "
      "transformed weights (--exact: none)",
      host.at("winograd").size(), error, bytes));
}

void add_half_weights(const Json& host, std::vector<std::string>& lines) {
  if (!host.contains("half_weights")) return;
  const Json& h = host.at("half_weights");
  lines.push_back(
      fmt::format("  host: {} tensors of weights in fp16, {} B instead of {} B, rounded by at most {:.1e} of "
                  "a tensor's largest",
                  h.at("tensors").get<int64_t>(), h.at("bytes").get<int64_t>(),
                  h.at("bytes_fp32").get<int64_t>(), h.at("largest_error").get<double>()));
}

}  // namespace

std::vector<std::string> expected_lines(const Json& report) {
  std::vector<std::string> lines;
  add_regions(report.at("regions"), lines);
  add_operators(report.at("host").at("nodes"), lines);
  add_winograd(report.at("host"), lines);
  add_half_weights(report.at("host"), lines);
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
