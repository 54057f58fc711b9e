// The expected time of one run as a line, that of its partition, and a warning where the accelerator does not
// pay.
#pragma once
#include <optional>
#include <string>

#include "model/report.h"

namespace mrvlc::driver {

// "about 0.365 ms a run (2740 inferences/s, bound by the device): ...".
std::string expected_line(const ExpectedTime& expected);
std::string partition_line(const ReportedPartition& partition);
// MRV0416 where the host alone is expected to take at most 1/1.2 of the time.
std::optional<Diag> slower_than_host(const Report& report);

}  // namespace mrvlc::driver
