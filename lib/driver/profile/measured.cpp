// Programs run on made inputs, their times read and set against report.json's, as text and as JSON.
#include "profile/measured.h"

#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "mrvlc/driver/interrupt.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/temporary_dir.h"
#include "mrvlc/tensor/npy.h"
#include "run/program.h"
#include "run/stub_command.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

constexpr int kRuns = 20;

Tensor noise(Tensor tensor) {
  uint32_t state = 1;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    // The linear congruential generator of Numerical Recipes.
    state = state * 1664525u + 1013904223u;
    tensor.set_double(i, -2 + 4 * static_cast<double>(state >> 8) / (1 << 24));
  }
  return tensor;
}

// Of each input's type; of what is known at run time only, as many as there may be.
Result<std::vector<fs::path>> input_files(const OutputFolder& folder, const fs::path& into, MeasuredOn how) {
  std::vector<fs::path> files;
  for (const Port& port : folder.inputs) {
    if (needs_json(port.type))
      return make_diag<DiagCode::MRV0004>(
          "to measure: input '" + port.name +
          "' is no tensor of numbers, and programs are measured on made ones");
    files.push_back(into / fmt::format("input_{}.npy", files.size()));
    Tensor value(TensorType{port.type.elem, port.type.shape});
    if (how == MeasuredOn::Noise && is_float(port.type.elem)) value = noise(std::move(value));
    MRVLC_TRY(write_file_atomic(files.back(), to_npy(value)));
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

Result<MeasuredProgram> MeasuredProgram::build(const RunOptions& options, const OutputFolder& folder,
                                               MeasuredOn how) {
  MRVLC_ASSIGN(TemporaryDir temporary, TemporaryDir::create());
  MRVLC_ASSIGN(std::vector<fs::path> inputs, input_files(folder, temporary.path(), how));
  MRVLC_ASSIGN(Program program, Program::build(options, folder));
  return MeasuredProgram(std::move(temporary), std::move(inputs), std::move(program));
}

Result<Measured> MeasuredProgram::run(int runs, bool steps) {
  program_.set_bench(runs, steps);
  MRVLC_ASSIGN(const std::string output, program_.run(inputs_, {}));
  Measured m = parse(output);
  m.runs = runs;
  return m;
}

Result<Measured> measure_program(const RunOptions& options, const OutputFolder& folder, MeasuredOn how) {
  const InterruptGuard guard;
  MRVLC_ASSIGN(MeasuredProgram program, MeasuredProgram::build(options, folder, how));
  MRVLC_ASSIGN(Measured m, program.run(options.bench == 0 ? kRuns : options.bench, true));
  m.on = options.on.empty() ? "this machine" : options.on;
  m.simulated = has_regions(folder) && options.device_lib.empty();
  return m;
}

std::map<uint32_t, std::set<uint32_t>> computed_by_functions(const idmap::Map& map) {
  std::map<uint32_t, std::set<uint32_t>> out;
  for (const idmap::Function& f : map.host_functions) {
    // These call all others.
    if (f.symbol.ends_with("_run") || f.symbol.ends_with("_run_parallel") || f.symbol.ends_with("_infer"))
      continue;
    std::set<uint32_t>& exprs = out[f.expr_id];
    exprs.insert(f.expr_id);
    exprs.insert(f.fused.begin(), f.fused.end());
  }
  return out;
}

namespace {

std::string ms_text(std::optional<double> ms) {
  return ms ? fmt::format("{:.3f}", *ms) : "-";
}

std::string ratio_text(const Measured& m, const Measured::Step& s) {
  return comparable(m, s) && *s.expected_ms > 0 ? fmt::format("{:.2f}", s.least_ms / *s.expected_ms) : "-";
}

Json ms_json(std::optional<double> ms) {
  return ms ? Json(*ms) : Json();
}

}  // namespace

void add_expected(Measured& m, const Report& report, const idmap::Map& map) {
  std::map<uint32_t, double> of_region, of_expr;  // by id, in milliseconds
  std::map<uint32_t, uint32_t> region_of;         // an expression's
  for (const ReportedRegion& region : report.regions) of_region[region.id] = 1e3 * region.seconds;
  for (const idmap::Layer& layer : map.layers)
    for (const uint32_t expr : layer.exprs) {
      region_of[expr] = layer.region;
      if (const auto at = of_region.find(layer.region); at != of_region.end()) of_expr[expr] = at->second;
    }
  std::map<uint32_t, double> alone;
  for (const ReportedNode& n : report.host.nodes) alone[n.expr_id] = 1e3 * n.seconds;
  // The hook tells of a function by the first of what it computes.
  for (const auto& [expr, exprs] : computed_by_functions(map))
    for (const uint32_t e : exprs)
      if (const auto at = alone.find(e); at != alone.end()) of_expr[expr] += at->second;
  for (Measured::Step& s : m.steps) {
    if (const auto at = of_expr.find(s.expr); at != of_expr.end()) s.expected_ms = at->second;
    if (const auto at = region_of.find(s.expr); at != region_of.end() && !alone.contains(s.expr))
      s.region = at->second;
  }
  m.expected_ms = 1e3 * report.partition.seconds;
  m.expected_of = report.expected.host_model;
}

bool comparable(const Measured& m, const Measured::Step& step) {
  return step.expected_ms && !(step.region && m.simulated);
}

const Measured::Step* worst(const Measured& m) {
  const Measured::Step* found = nullptr;
  double most = 0;
  for (const Measured::Step& s : m.steps) {
    if (!comparable(m, s) || s.least_ms - *s.expected_ms <= most) continue;
    most = s.least_ms - *s.expected_ms;
    found = &s;
  }
  return found;
}

std::string measured_text(const Measured& m, const idmap::Labels& labels) {
  const auto label = [&](const Measured::Step& s) { return printable(std::string(labels.of(s.expr))); };
  std::string out = fmt::format(
      "\nmeasured on {}, {} runs: {:.3f} ms at the least, {:.3f} ms in the middle; expected {} ms\n"
      "measured ms  expected ms       x\n",
      printable(m.on), m.runs, m.least_ms, m.median_ms, ms_text(m.expected_ms));
  for (const Measured::Step& s : m.steps)
    out += fmt::format("{:>11.3f}  {:>11}  {:>6}  {}{}\n", s.least_ms, ms_text(s.expected_ms),
                       ratio_text(m, s), s.region ? fmt::format("region {}: ", *s.region) : "", label(s));
  if (m.simulated) out += "regions ran on the simulator: their times are not compared\n";
  if (const Measured::Step* s = worst(m))
    out += fmt::format("furthest beyond what was expected: {}, {:.3f} ms instead of {:.3f}\n", label(*s),
                       s->least_ms, *s->expected_ms);
  if (!m.expected_of.empty()) out += "expected times are of: " + printable(m.expected_of) + "\n";
  return out;
}

Json measured_json(const Measured& m, const idmap::Labels& labels) {
  Json steps = Json::array();
  for (const Measured::Step& s : m.steps)
    steps.push_back({{"expr_id", s.expr},
                     {"label", labels.of(s.expr)},
                     {"region", s.region ? Json(*s.region) : Json()},
                     {"least_ms", s.least_ms},
                     {"expected_ms", ms_json(s.expected_ms)},
                     {"comparable", comparable(m, s)}});
  const Measured::Step* const most = worst(m);
  return {{"on", idmap::json_text(m.on)},
          {"regions_simulated", m.simulated},
          {"runs", m.runs},
          {"least_ms", m.least_ms},
          {"median_ms", m.median_ms},
          {"expected_ms", ms_json(m.expected_ms)},
          {"worst", most == nullptr ? Json() : Json(most->expr)},
          {"steps", std::move(steps)}};
}

}  // namespace mrvlc::driver
