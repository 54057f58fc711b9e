// Times of a program on another machine.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mrvlc/driver/driver.h"
#include "mrvlc/idmap/idmap.h"
#include "output/output_folder.h"

namespace mrvlc::driver {

struct Measured {
  std::string on;
  int runs = 0;
  double least_ms = 0, median_ms = 0;  // of an inference
  std::optional<double> expected_ms;   // what report.json says of it
  struct Step {
    uint32_t expr = 0;
    double least_ms = 0;
    std::optional<double>
        expected_ms;  // of the operator and those fused behind it; of a region with its conversions
  };
  std::vector<Step> steps;  // operators on the host and regions, in order
};

// Builds the program for options.on and runs it there on zeros. Errors: those of `mrvlc run --on`.
Result<Measured> measure_there(const RunOptions& options, const OutputFolder& folder);
// What report.json and idmap.json of the folder expect of the same; left open where they do not say.
void add_expected(Measured& measured, const Json& report, const Json& map);
std::string measured_text(const Measured& m, const idmap::Labels& labels);
Json measured_json(const Measured& m, const idmap::Labels& labels);

}  // namespace mrvlc::driver
