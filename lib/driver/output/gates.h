// Limits on what a compile makes: --max-cycles and its kin.
#pragma once
#include <vector>

#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

// What was asked for, judged by the numbers of the report.
std::vector<ReportedGate> judged(const Gates& gates, const Report& report, const Accuracy& accuracy);
// MRV0013 for each gate of the report that fails, and MRV0014 for each number that is worse than in
// `baseline`. All are told of; the last one is returned.
Status check_gates(const Report& report, const std::optional<Report>& baseline, const Gates& gates,
                   Diagnostics& diagnostics);

// --fail-on-fallback: every node in the way is named, not only the first.
bool check_fallback(const PlacedModel& m, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
