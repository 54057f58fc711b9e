// The quantiser with trials that are compiled and timed, and samples for the probe.
#include "explore/precision.h"

#include <algorithm>

#include "accuracy/compile_data.h"
#include "accuracy/quantize_graph.h"
#include "explore/trial_times.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// Of the probe.
constexpr size_t kProbeSamples = 8;
bool is_auto(const CompileOptions& options) {
  return options.precision == "auto";
}

QuantizeOptions quantize_options(const CompileOptions& options, bool half) {
  QuantizeOptions out;
  out.compile = options;
  out.data = options.data;
  out.options.jobs = options.jobs;
  out.options.progress = options.quantize_progress;
  out.options.accuracy = options.accuracy;
  out.options.half = half;
  if (!is_auto(options)) return out;
  out.options.may_be_none = true;
  if (!options.accuracy) out.options.accuracy = options.accuracy_warning;
  return out;
}

// What the model in floats makes of some of the samples: of those that nothing was made of, where there are
// any, as errors on the others are too small.
Status keep_for_probe(QuantizedGraph& graph, QuantizedModel& out) {
  std::vector<size_t> from = graph.report.held;
  if (from.empty())
    for (size_t i = 0; i < graph.samples.size(); ++i) from.push_back(i);
  const size_t n = std::min(kProbeSamples, from.size());
  for (size_t i = 0; i < n; ++i) {
    out.inputs.push_back(graph.samples[from[i * from.size() / n]]);
    MRVLC_ASSIGN(auto expected, interp::run(graph.floats, out.inputs.back()));
    out.expected.push_back(std::move(expected));
  }
  return {};
}

Status make(const CompileOptions& options, bool half, QuantizedModel& out, Diagnostics& diagnostics) {
  MRVLC_ASSIGN(out.data, files_of_data(options.data));
  QuantizeOptions how = quantize_options(options, half);
  if (is_auto(options))
    how.options.times = [&](const ir::Graph& graph) { return trial_times(graph, options, out); };
  const auto was_read = [&](const onnx::Model& model) { out.files = model.files; };
  MRVLC_ASSIGN(auto made, quantize_graph(how, diagnostics, was_read));
  if (!made) return {};
  out.import = std::move(made->import);
  MRVLC_TRY(keep_for_probe(*made, out));
  out.report = std::move(made->report);
  if (std::ranges::none_of(out.report.layers, &quantize::LayerReport::integers)) return {};
  MRVLC_ASSIGN(out.bytes, onnx::to_onnx(made->model.graph, MRVLC_VERSION));
  return {};
}

}  // namespace

bool quantize_for(CompileOptions& options, bool half, Diagnostics& diagnostics) {
  if (options.data.empty() || options.precision == "fp16" || options.quantized != nullptr) return true;
  auto model = std::make_shared<QuantizedModel>();
  if (Status made = make(options, half, *model, diagnostics); !made.ok()) diagnostics.add(made.error());
  options.quantized = std::move(model);
  return !diagnostics.has_errors();
}

}  // namespace mrvlc::driver
