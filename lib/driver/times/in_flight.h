// Two runs at once: NAME_submit hands one region to the device, and the CPU works on other runs meanwhile.
#pragma once
#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

// The region during which most of the CPU's work of other runs is done; of equal ones the last. nullopt:
// there is none, or a target does not tell its times.
std::optional<uint32_t> region_to_submit(const ProbedModel& m,
                                         const std::vector<chost::Conversion>& conversions);
// What two runs at once are expected to take, beside `expected`, which is complete but for it.
std::optional<ReportedInFlight> expected_in_flight(const CompiledModel& m, const ExpectedTime& expected,
                                                   double batch);

}  // namespace mrvlc::driver
