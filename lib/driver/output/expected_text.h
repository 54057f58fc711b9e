// What the parts of a partition are expected to take, and reasons that many nodes share, as text: report.txt,
// report.html and `mrvlc explain` say the same.
#pragma once
#include <string>
#include <vector>

#include "model/report.h"

namespace mrvlc::driver {

// Of regions and the host: regions with the values handed over, and the
// operators of the host by type, each list with those that take longest.
std::vector<std::string> expected_lines(const Report& report);

// Of nodes in order, each with a reason: the same reasons behind each other, as one group, at the place of
// the first. Holds indices of nodes.
std::vector<std::vector<size_t>> by_reason(const std::vector<std::string>& reasons);

}  // namespace mrvlc::driver
