// Expected times as lines, and as a warning.
#include "output/expected.h"

#include "mrvlc/support/diag/partition.h"

namespace mrvlc::driver {
namespace {

std::string milliseconds(double seconds) {
  return fmt::format("{:.4g} ms", 1e3 * seconds);
}

}  // namespace

std::string expected_line(const ExpectedTime& e) {
  if (!e.device)
    return fmt::format("not known: a target does not tell its times; {} on the host", milliseconds(e.host));
  return fmt::format(
      "about {} a run, {:.4g} inferences/s, bound by {}: device {}, launches {}, borders {}, host {}; the "
      "host "
      "alone {}",
      milliseconds(e.seconds), e.inferences_per_second.value_or(0), e.bound_by.value_or(""),
      milliseconds(*e.device), milliseconds(e.launches), milliseconds(e.borders), milliseconds(e.host),
      milliseconds(e.host_only));
}

std::string partition_line(const ReportedPartition& p) {
  return fmt::format(
      "{}: about {:.3f} ms, {:.3f} of them on the host; {:.3f} greedily, {:.3f} by the host alone", p.mode,
      1e3 * p.seconds, 1e3 * p.host_seconds, 1e3 * p.seconds_greedy, 1e3 * p.seconds_host_only);
}

std::optional<Diag> slower_than_host(const Report& report) {
  constexpr double kWorthAWarning = 1.2;
  const ExpectedTime& e = report.expected;
  if (report.regions.empty() || !e.device || e.seconds < kWorthAWarning * e.host_only) return std::nullopt;
  const bool by_cost = report.partition.mode == "cost";
  return make_diag<DiagCode::MRV0416>(milliseconds(e.seconds), milliseconds(e.host_only),
                                      by_cost ? "--target host" : "--partition cost or --target host");
}

}  // namespace mrvlc::driver
