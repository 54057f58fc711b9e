// Totals of reports, which get worse by growing or by shrinking, and regressions against a baseline.
#include "model/totals.h"

#include <algorithm>

#include "folder/output_folder.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

template <auto Member>
int64_t sum(const Report& report) {
  uint64_t all = 0;
  for (const ReportedRegion& r : report.regions) all += r.*Member;
  return static_cast<int64_t>(all);
}

std::optional<Number> cycles(const Report& report) {
  const int64_t all = sum<&ReportedRegion::cycles>(report);
  const bool untold = all == 0 && !report.regions.empty();  // a target that tells none
  return untold ? std::nullopt : std::optional<Number>(all);
}

std::optional<Number> ocm_peak(const Report& report) {
  uint64_t most = 0;
  for (const ReportedRegion& r : report.regions) most = std::max(most, r.ocm_peak_bytes);
  return static_cast<int64_t>(most);
}

using Value = std::optional<Number>;

constexpr TotalKind kKinds[] = {
    {"cycles", "cycles of the regions", Unit::Count, Worse::More, cycles},
    {"lower_bound_cycles", "lower bound of the cycles", Unit::Count, Worse::Neither,
     [](const Report& r) -> Value { return sum<&ReportedRegion::lower_bound_cycles>(r); }},
    {"ddr_bytes", "DDR traffic", Unit::Bytes, Worse::More,
     [](const Report& r) -> Value {
       return sum<&ReportedRegion::ddr_read_bytes>(r) + sum<&ReportedRegion::ddr_write_bytes>(r);
     }},
    {"ocm_peak_bytes", "peak of on-chip memory", Unit::Bytes, Worse::Neither, ocm_peak},
    {"weights_bytes", "weights", Unit::Bytes, Worse::More,
     [](const Report& r) -> Value { return sum<&ReportedRegion::weights_bytes>(r) + r.host.weights_bytes; }},
    {"arena_bytes", "host arena", Unit::Bytes, Worse::More,
     [](const Report& r) -> Value { return r.host.arena_bytes; }},
    {"conversion_bytes", "conversions at borders", Unit::Bytes, Worse::Neither,
     [](const Report& r) -> Value { return r.host.conversion_bytes; }},
    {"mac_share_accelerator", "MACs on the accelerator", Unit::Share, Worse::Less,
     [](const Report& r) -> Value { return r.placement.mac_share_accelerator; }},
    {"nodes_accelerator", "nodes on the accelerator", Unit::Count, Worse::Neither,
     [](const Report& r) -> Value { return static_cast<int64_t>(r.placement.accelerator); }},
    {"nodes_cpu", "nodes on the CPU", Unit::Count, Worse::Neither,
     [](const Report& r) -> Value { return static_cast<int64_t>(r.placement.cpu); }},
    {"regions", "regions", Unit::Count, Worse::Neither,
     [](const Report& r) -> Value { return static_cast<int64_t>(r.regions.size()); }},
    {"expected_error", "expected error", Unit::Error, Worse::Neither,
     [](const Report& r) -> Value { return r.accuracy.expected_error; }},
    {"seconds", "expected time of a run", Unit::Seconds, Worse::Neither,
     [](const Report& r) -> Value { return r.partition.seconds; }}};

}  // namespace

std::span<const TotalKind> total_kinds() {
  return kKinds;
}

const TotalKind& total_kind(std::string_view name) {
  return *std::ranges::find(kKinds, name, &TotalKind::name);
}

std::vector<std::optional<Number>> totals(const Report& report) {
  std::vector<std::optional<Number>> out;
  for (const TotalKind& kind : kKinds) out.push_back(kind.of(report));
  return out;
}

double as_double(const Number& number) {
  return std::visit([](auto n) { return static_cast<double>(n); }, number);
}

std::string number_text(const Number& number) {
  return std::visit([](auto n) { return Json(n).dump(); }, number);
}

bool is_worse(const TotalKind& kind, const std::optional<Number>& before, const std::optional<Number>& after,
              double tolerance) {
  if (kind.worse == Worse::Neither || !before || !after) return false;
  const double a = as_double(*before), b = as_double(*after);
  return kind.worse == Worse::More ? b > a * (1 + tolerance) : b < a * (1 - tolerance);
}

Result<Report> read_report(const std::filesystem::path& out) {
  MRVLC_ASSIGN(const OutputFolder folder, open_output(out));
  return folder.read<Report>("report.json");
}

std::vector<Diag> regressions(const Report& before, const Report& after, double tolerance,
                              const std::string& baseline) {
  std::vector<Diag> found;
  const auto a = totals(before), b = totals(after);
  for (size_t i = 0; i < a.size(); ++i) {
    if (!is_worse(kKinds[i], a[i], b[i], tolerance)) continue;
    found.push_back(make_diag<DiagCode::MRV0014>(kKinds[i].name, number_text(*a[i]), number_text(*b[i]),
                                                 fmt::format("{:.6g} %", 100 * tolerance),
                                                 printable(baseline, 4096)));
  }
  return found;
}

void add_regressions(const Gates& gates, const Report& before, const Report& after,
                     std::vector<Diag>& found) {
  for (Diag& d : regressions(before, after, gates.tolerance, gates.baseline.string()))
    found.push_back(std::move(d));
}

}  // namespace mrvlc::driver
