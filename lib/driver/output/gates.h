// Limits on what a compile makes: --max-cycles and its kin.
#pragma once
#include <vector>

#include "model/compiled_model.h"

namespace mrvlc::driver {

// Adds `gates` to report.json, where there are any; the numbers are those that the report has already.
void add_gates(Json& report, const CompiledModel& m, const Gates& gates);
// MRV0013 for each of them that fails, and MRV0014 for each number that is worse than in `baseline`, a
// report.json or null. All are told of; the last one is returned.
Status check_gates(const Json& report, const Json& baseline, const Gates& gates, Diagnostics& diagnostics);

// --fail-on-fallback: every node in the way is named, not only the first.
bool check_fallback(const PlacedModel& m, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
