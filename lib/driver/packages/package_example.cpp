// The example's graph and weights, how many of its operators a target takes, results against the host's.
#include "packages/package_example.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/driver/driver.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/target.h"
#include "stages/stages.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// Operators that targets are usually made for; Mul and Add of values of one shape.
constexpr std::string_view kExample = R"(graph "example" {{
  input %image : f32[1,3,8,8]
  const %weights : f32[4,3,3,3] = [{}]
  const %bias : f32[4] = [0.5, -0.25, 0.125, -0.0625]
  %conv = Conv(%image, %weights, %bias) {{pads = [1, 1, 1, 1]}} : f32[1,4,8,8]
  %relu = Relu(%conv) : f32[1,4,8,8]
  %square = Mul(%relu, %relu) : f32[1,4,8,8]
  %result = Add(%square, %relu) : f32[1,4,8,8]
  output %result
}}
)";

// Eighths from -0.5 to 0.5, which fp16 and fp32 hold exactly.
std::vector<double> weights() {
  std::vector<double> out;
  for (int i = 0; i < 4 * 3 * 3 * 3; ++i) out.push_back((i * 5 % 9 - 4) / 8.0);
  return out;
}

struct Share {
  size_t taken = 0, nodes = 0;
};

// How many operators of the example the target takes.
Result<Share> placed(const CompileOptions& options) {
  const CompileOptions trial = for_trial(options);
  Session session(trial);
  Said said;
  const auto placed = placed_model(session, trial, {}, said);
  if (!placed) return *std::ranges::find(said.diagnostics.list(), Severity::Error, &Diag::severity);
  const auto& decisions = placed->partition.decisions;
  const auto taken = std::ranges::count_if(decisions, [](const auto& d) { return d.on_target(); });
  return Share{static_cast<size_t>(taken), decisions.size()};
}

}  // namespace

Result<std::string> example_model() {
  MRVLC_ASSIGN(const ir::Graph graph,
               ir::parse(fmt::format(kExample, fmt::join(weights(), ", ")), ops::registry()));
  return onnx::to_onnx(graph, MRVLC_VERSION);
}

Result<std::string> run_example(const std::string& target, const fs::path& folder,
                                const std::vector<fs::path>& search, const PackageCompiler& compiler) {
  std::error_code ec;
  const fs::path model = folder / kExampleFile;
  if (!fs::exists(model, ec)) return std::string();
  VerifyOptions options;
  options.sets = {"uniform", "normal"};  // within the range of any format
  options.compile.model = model;
  options.run.cc = compiler.cc;
  options.run.cflags = compiler.cflags;
  options.compile.targets = {target, "host"};
  options.compile.target_dirs = search;
  options.compile.target_dirs.insert(options.compile.target_dirs.begin(),
                                     fs::absolute(folder, ec).lexically_normal().parent_path());
  MRVLC_ASSIGN(const Share share, placed(options.compile));
  if (share.taken == 0) return make_diag<DiagCode::MRV0358>(printable(target), kExampleFile);
  Diagnostics said;
  const std::vector<Comparison> compared = verify(options, said);
  if (said.has_errors()) return *std::ranges::find(said.list(), Severity::Error, &Diag::severity);
  double error = 0;
  for (const Comparison& c : compared) error = std::max(error, c.error);
  return fmt::format("{}: {} of {} operators run on {}, results right (largest error {:.2g})\n", kExampleFile,
                     share.taken, share.nodes, target, error);
}

}  // namespace mrvlc::driver
