// Expected times as numbers, as a line, and as a warning where the accelerator does not pay.
#include "output/expected.h"

#include <algorithm>

#include "mrvlc/support/diag/partition.h"

namespace mrvlc::driver {
namespace {

std::string milliseconds(double seconds) {
  return fmt::format("{:.4g} ms", 1e3 * seconds);
}

// Who spends most of the time.
std::string bound_by(const ExpectedTime& t) {
  const std::pair<double, const char*> parts[] = {
      {t.device.value_or(0), "device"}, {t.launches, "launches"}, {t.borders, "borders"}, {t.host, "host"}};
  return std::ranges::max_element(parts, {}, [](const auto& p) { return p.first; })->second;
}

}  // namespace

Json expected_json(const ExpectedTime& t, int64_t batch) {
  const bool known = t.device.has_value() && t.seconds > 0;
  return {{"seconds", t.seconds},
          {"seconds_host_only", t.host_only},
          {"seconds_device", t.device ? Json(*t.device) : Json()},
          {"seconds_launches", t.launches},
          {"seconds_borders", t.borders},
          {"seconds_host", t.host},
          {"inferences_per_second", known ? Json(static_cast<double>(batch) / t.seconds) : Json()},
          {"bound_by", t.device ? Json(bound_by(t)) : Json()}};
}

std::string expected_line(const Json& e) {
  const auto text = [&](const char* field) { return milliseconds(e.at(field).get<double>()); };
  if (e.at("seconds_device").is_null())
    return fmt::format("not known: a target does not tell its times; {} on the host", text("seconds_host"));
  const double rate =
      e.at("inferences_per_second").is_null() ? 0 : e.at("inferences_per_second").get<double>();
  return fmt::format(
      "about {} a run, {:.4g} inferences/s, bound by {}: device {}, launches {}, borders {}, host {}; the "
      "host "
      "alone {}",
      text("seconds"), rate, e.at("bound_by").get<std::string>(), text("seconds_device"),
      text("seconds_launches"), text("seconds_borders"), text("seconds_host"), text("seconds_host_only"));
}

std::optional<Diag> slower_than_host(const Json& report) {
  constexpr double kWorthAWarning = 1.2;
  const Json& e = report.at("expected");
  const double seconds = e.at("seconds").get<double>(), host = e.at("seconds_host_only").get<double>();
  if (report.at("regions").empty() || e.at("seconds_device").is_null() || seconds < kWorthAWarning * host)
    return std::nullopt;
  const bool by_cost = report.at("partition").at("mode") == "cost";
  return make_diag<DiagCode::MRV0416>(milliseconds(seconds), milliseconds(host),
                                      by_cost ? "--target host" : "--partition cost or --target host");
}

}  // namespace mrvlc::driver
