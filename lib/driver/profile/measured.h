// Times of a program, on this machine or another.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "folder/output_folder.h"
#include "model/report.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/idmap/idmap.h"
#include "run/program.h"

namespace mrvlc::driver {

struct Measured {
  std::string on;          // "ssh://board", or "this machine"
  bool simulated = false;  // regions ran on the simulator, so their times are no device's
  int runs = 0;
  double least_ms = 0, median_ms = 0;  // of an inference
  std::optional<double> expected_ms;   // what report.json says of it
  std::string expected_of;             // the machine and flags that it is of
  struct Step {
    uint32_t expr = 0;
    double least_ms = 0;
    std::optional<uint32_t> region = {};
    // Of the operator and those fused behind it; of a region with its conversions.
    std::optional<double> expected_ms = {};
  };
  std::vector<Step> steps;  // operators on the host and regions, in order
};

// What a program is run on: zeros, or floats between -2 and 2, as functions take shorter ways for zero.
enum class MeasuredOn : uint8_t { Zeros, Noise };
// A program that is built once and measured several times.
class MeasuredProgram {
 public:
  // Errors: those of `mrvlc run`.
  static Result<MeasuredProgram> build(const RunOptions& options, const OutputFolder& folder,
                                       MeasuredOn inputs);
  // With `steps`, as many runs once more, step by step.
  Result<Measured> run(int runs, bool steps);

 private:
  MeasuredProgram(TemporaryDir temporary, std::vector<std::filesystem::path> inputs, Program program)
      : temporary_(std::move(temporary)), inputs_(std::move(inputs)), program_(std::move(program)) {}

  TemporaryDir temporary_;
  std::vector<std::filesystem::path> inputs_;
  Program program_;
};
// Builds the program and runs it, here or on options.on. Errors: those of `mrvlc run`.
Result<Measured> measure_program(const RunOptions& options, const OutputFolder& folder,
                                 MeasuredOn inputs = MeasuredOn::Zeros);
// By the first expression of a C function all that it computes. NAME_run, which has the
// addresses of what needs no code, is no step.
std::map<uint32_t, std::set<uint32_t>> computed_by_functions(const idmap::Map& map);
// What the folder's report and ID map expect of the same; left open where they do not say.
void add_expected(Measured& measured, const Report& report, const idmap::Map& map);
// Whether what was measured of a step is what was expected of.
bool comparable(const Measured& m, const Measured::Step& step);
// The step that takes longer than expected by most; null: none does.
const Measured::Step* worst(const Measured& m);
std::string measured_text(const Measured& m, const idmap::Labels& labels);
Json measured_json(const Measured& m, const idmap::Labels& labels);

}  // namespace mrvlc::driver
