// Cycles of the same binaries on a machine with other numbers (`mrvlc profile --what-if`).
#pragma once
#include <string>
#include <vector>

#include "inputs/json.h"
#include "mrvlc/report/report.h"

namespace mrvlc::driver {

struct WhatIf {
  std::string changes;                  // FIELD=VALUE,...
  std::vector<report::Region> regions;  // in the order of the profile
};

// `regions`: on the machine as it is.
std::string what_if_text(const WhatIf& what_if, const std::vector<report::Region>& regions);
Json what_if_json(const WhatIf& what_if, const std::vector<report::Region>& regions);

}  // namespace mrvlc::driver
