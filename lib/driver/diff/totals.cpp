// Totals of report.json, which get worse by growing or by shrinking, and regressions against a baseline.
#include "diff/totals.h"

#include <algorithm>

#include "folder/output_folder.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

int64_t sum_over(const Json& regions, const char* field) {
  int64_t all = 0;
  for (const Json& r : regions) all += r.at(field).get<int64_t>();
  return all;
}

int64_t most_of(const Json& regions, const char* field) {
  int64_t most = 0;
  for (const Json& r : regions) most = std::max(most, r.at(field).get<int64_t>());
  return most;
}

}  // namespace

const TotalKind& total_kind(std::string_view name) {
  static constexpr TotalKind kKinds[] = {
      {"cycles", "cycles of the regions", Unit::Count, Worse::More},
      {"lower_bound_cycles", "lower bound of the cycles", Unit::Count, Worse::Neither},
      {"ddr_bytes", "DDR traffic", Unit::Bytes, Worse::More},
      {"ocm_peak_bytes", "peak of on-chip memory", Unit::Bytes, Worse::Neither},
      {"weights_bytes", "weights", Unit::Bytes, Worse::More},
      {"arena_bytes", "host arena", Unit::Bytes, Worse::More},
      {"conversion_bytes", "conversions at borders", Unit::Bytes, Worse::Neither},
      {"mac_share_accelerator", "MACs on the accelerator", Unit::Share, Worse::Less},
      {"nodes_accelerator", "nodes on the accelerator", Unit::Count, Worse::Neither},
      {"nodes_cpu", "nodes on the CPU", Unit::Count, Worse::Neither},
      {"regions", "regions", Unit::Count, Worse::Neither},
      {"expected_error", "expected error", Unit::Error, Worse::Neither},
      {"seconds", "expected time of a run", Unit::Seconds, Worse::Neither}};
  const auto* found = std::ranges::find(kKinds, name, &TotalKind::name);
  static constexpr TotalKind kOther = {};
  return found == std::end(kKinds) ? kOther : *found;
}

std::vector<Total> totals(const Json& report) {
  const Json& regions = report.at("regions");
  const Json& host = report.at("host");
  const Json& placement = report.at("placement");
  const int64_t cycles = sum_over(regions, "cycles");
  const bool untold = cycles == 0 && !regions.empty();  // a target that tells none
  std::vector<Total> out = {
      {"cycles", untold ? Json() : Json(cycles)},
      {"lower_bound_cycles", sum_over(regions, "lower_bound_cycles")},
      {"ddr_bytes", sum_over(regions, "ddr_read_bytes") + sum_over(regions, "ddr_write_bytes")},
      {"ocm_peak_bytes", most_of(regions, "ocm_peak_bytes")},
      {"weights_bytes", sum_over(regions, "weights_bytes") + host.at("weights_bytes").get<int64_t>()},
      {"arena_bytes", host.at("arena_bytes")},
      {"conversion_bytes", host.at("conversion_bytes")},
      {"mac_share_accelerator", placement.at("mac_share_accelerator")},
      {"nodes_accelerator", placement.at("accelerator")},
      {"nodes_cpu", placement.at("cpu")},
      {"regions", regions.size()},
      {"expected_error", report.at("accuracy").at("expected_error")},
      {"seconds", report.at("partition").at("seconds")}};
  for (Total& t : out) t.worse = total_kind(t.name).worse;
  return out;
}

bool is_worse(const Total& before, const Total& after, double tolerance) {
  if (before.worse == Worse::Neither || !before.value.is_number() || !after.value.is_number()) return false;
  const double a = before.value.get<double>(), b = after.value.get<double>();
  return before.worse == Worse::More ? b > a * (1 + tolerance) : b < a * (1 - tolerance);
}

Result<Json> read_report(const std::filesystem::path& out) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(Json report, folder.json("report.json"));
  // That it has all numbers is seen here, not when the work is done.
  MRVLC_TRY(folder.reading([&]() -> Result<std::string> {
    totals(report);
    return std::string();
  }));
  return report;
}

std::vector<Diag> regressions(const Json& before, const Json& after, double tolerance,
                              const std::string& baseline) {
  std::vector<Diag> found;
  const std::vector<Total> a = totals(before), b = totals(after);
  for (size_t i = 0; i < a.size(); ++i) {
    if (!is_worse(a[i], b[i], tolerance)) continue;
    found.push_back(make_diag<DiagCode::MRV0014>(a[i].name, a[i].value.dump(), b[i].value.dump(),
                                                 fmt::format("{:.6g} %", 100 * tolerance),
                                                 printable(baseline, 4096)));
  }
  return found;
}

void add_regressions(const Gates& gates, const Json& before, const Json& after, std::vector<Diag>& found) {
  for (Diag& d : regressions(before, after, gates.tolerance, gates.baseline.string()))
    found.push_back(std::move(d));
}

}  // namespace mrvlc::driver
