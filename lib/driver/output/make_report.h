// The report of a compile, and report.txt.
#pragma once
#include "model/report.h"
#include "output/placed.h"

namespace mrvlc::driver {

// `regions`: as report_regions() gives them.
Report make_report(const CompiledModel& m, const CompileOptions& options, const PlacedNodes& nodes,
                   const std::vector<report::Region>& regions);
std::string report_text(const Report& report, const PlacedNodes& nodes,
                        const std::vector<report::Region>& regions);

}  // namespace mrvlc::driver
