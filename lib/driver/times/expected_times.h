// What the program is expected to take, in seconds: a run, its regions and the nodes of the host.
#pragma once
#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

// `expected` and `partition` of the report, the times of its regions and the nodes of its host.
void add_expected_times(Report& report, const CompiledModel& m, const CompileOptions& options);
// Of one region's program, by the clock of its accelerator.
double region_seconds(const ProbedModel& m, size_t region);
// What the host is expected to take for a conversion.
double conversion_seconds(const CompiledModel& m, const chost::Conversion& c);

}  // namespace mrvlc::driver
