// What report.html shows, gathered from one compile.
#pragma once
#include "compiled_model.h"

namespace mrvlc::driver {

// Everything about each region, drawings included.
std::vector<report::Region> report_regions(const CompiledModel& m, const Json& map);
report::Page report_page(const CompiledModel& m, const Json& report, const Json& placement,
                         std::vector<report::Region> regions);

}  // namespace mrvlc::driver
