// The expected time of one run: report.json's `expected`, its line of text, and what follows from it.
#pragma once
#include <optional>
#include <string>

#include "model/compiled_model.h"
#include "mrvlc/partition/costs.h"

namespace mrvlc::driver {

// Expected seconds of one run, by who spends them.
struct ExpectedTime {
  double seconds = 0, host_only = 0, host = 0, launches = 0, borders = 0;
  std::optional<double> device;  // nullopt: a target does not tell
};

// `expected` of report.json. Inferences are runs times the batch.
Json expected_json(const ExpectedTime& time, int64_t batch);
// "about 0.365 ms a run (2740 inferences/s, bound by the device): ...".
std::string expected_line(const Json& expected);
// MRV0416 where the host alone is expected to take at most 1/1.2 of the time; `by_cost`: --partition cost.
std::optional<Diag> slower_than_host(const Json& report);

}  // namespace mrvlc::driver
