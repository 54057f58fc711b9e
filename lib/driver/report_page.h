// What report.html shows, gathered from one compile.
#pragma once
#include "compiled_model.h"

namespace mrvlc::driver {

report::Page report_page(const CompiledModel& m, const Json& map, const Json& report, const Json& placement);

}  // namespace mrvlc::driver
