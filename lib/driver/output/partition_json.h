// What the partition is expected to take, for the reports.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/partition/costs.h"

namespace mrvlc::driver {

// Members of report.json: `partition`, and what belongs into each of `regions` and into `host`.
void add_partition(Json& report, const CompiledModel& m, const CompileOptions& options);
// What the host is expected to take for a conversion.
double conversion_seconds(const CompiledModel& m, const chost::Conversion& c);
// A line of report.txt and of the summary.
std::string partition_line(const Json& partition);

}  // namespace mrvlc::driver
