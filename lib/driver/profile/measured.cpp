#include "profile/measured.h"

#include <cstdio>
#include <sstream>

#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "mrvlc/tensor/npy.h"
#include "run/program.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr int kRuns = 20;

// Zeros of each input's type; of what is known at run time only, as many as there may be.
Result<std::vector<fs::path>> zeros(const OutputFolder& folder, const fs::path& into) {
  std::vector<fs::path> files;
  for (const Port& port : folder.inputs) {
    if (needs_json(port.type))
      return make_diag<DiagCode::MRV0004>("profile --on: input '" + port.name + "' is no tensor of numbers");
    files.push_back(into / fmt::format("zeros_{}.npy", files.size()));
    MRVLC_TRY(write_file_atomic(files.back(), to_npy(Tensor(TensorType{port.type.elem, port.type.shape}))));
  }
  return files;
}

Measured parse(const std::string& output) {
  Measured m;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    Measured::Step step;
    if (std::sscanf(line.c_str(), "step %u least_ms %lf", &step.expr, &step.least_ms) == 2)
      m.steps.push_back(step);
    if (double median = 0, least = 0;
        std::sscanf(line.c_str(), "median_ms %lf min_ms %lf", &median, &least) == 2) {
      m.median_ms = median;
      m.least_ms = least;
    }
  }
  return m;
}

}  // namespace

Result<Measured> measure_there(const RunOptions& given, const OutputFolder& folder) {
  RunOptions options = given;
  if (options.bench == 0) options.bench = kRuns;
  options.steps = true;
  const InterruptGuard guard;
  MRVLC_ASSIGN(const TemporaryDir temporary, TemporaryDir::create());
  MRVLC_ASSIGN(const std::vector<fs::path> inputs, zeros(folder, temporary.path()));
  MRVLC_ASSIGN(const Program program, Program::build(options, folder));
  MRVLC_ASSIGN(const std::string output, program.run(inputs, {}));
  Measured m = parse(output);
  m.on = options.on;
  m.runs = options.bench;
  return m;
}

std::string measured_text(const Measured& m, const idmap::Labels& labels) {
  std::string out =
      fmt::format("\nmeasured on {}, {} runs: {:.3f} ms at the least, {:.3f} ms in the middle\n",
                  printable(m.on), m.runs, m.least_ms, m.median_ms);
  for (const Measured::Step& s : m.steps)
    out += fmt::format("{:>10.3f} ms  {}\n", s.least_ms, printable(std::string(labels.of(s.expr))));
  return out;
}

Json measured_json(const Measured& m, const idmap::Labels& labels) {
  Json steps = Json::array();
  for (const Measured::Step& s : m.steps)
    steps.push_back({{"expr_id", s.expr}, {"label", labels.of(s.expr)}, {"least_ms", s.least_ms}});
  return {{"on", idmap::json_text(m.on)},
          {"runs", m.runs},
          {"least_ms", m.least_ms},
          {"median_ms", m.median_ms},
          {"steps", std::move(steps)}};
}

}  // namespace mrvlc::driver
