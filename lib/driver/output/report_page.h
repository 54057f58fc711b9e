// What report.html shows, gathered from one compile.
#pragma once
#include "model/report.h"
#include "output/placed.h"

namespace mrvlc::driver {

// Everything about each region, drawings included.
std::vector<report::Region> report_regions(const CompiledModel& m);
report::Page report_page(const CompiledModel& m, const Report& report, const PlacedNodes& nodes,
                         std::vector<report::Region> regions);

}  // namespace mrvlc::driver
