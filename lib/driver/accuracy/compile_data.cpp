// Samples read and run.
#include "accuracy/compile_data.h"

#include <algorithm>

#include "accuracy/run_cost.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// Of a compile: each is run in float32, and then, as far as the probe's budget goes, on the accelerator.
constexpr size_t kMostSamples = 64;
// Of a file: as much as samples may have together (docs/calibration.md).
constexpr uint64_t kMaxDataBytes = uint64_t{4} << 30;
// In the units of run_cost: some ten seconds.
constexpr int64_t kBudget = 60'000'000'000;

// `count` of 0 ... n-1, such that the first few are spread, too.
std::vector<size_t> spread_over(size_t n, size_t count) {
  std::vector<size_t> out;
  for (size_t step = 1; out.size() < std::min(n, count); step *= 2)
    for (size_t i = 0; i < step && out.size() < std::min(n, count); ++i) {
      const size_t at = (2 * i + 1) * n / (2 * step);
      if (std::ranges::find(out, std::min(at, n - 1)) == out.end()) out.push_back(std::min(at, n - 1));
    }
  return out;
}

}  // namespace

Result<std::vector<ReadFile>> files_of_data(const fs::path& folder) {
  std::vector<ReadFile> out;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    out.push_back(
        {ReadFile::Kind::Data, at->path(), at->path().lexically_relative(folder).generic_string(), {}});
  }
  std::ranges::sort(out, {}, &ReadFile::name);
  for (ReadFile& f : out) {
    MRVLC_ASSIGN(const auto bytes, MappedFile::open(f.path, kMaxDataBytes));
    MRVLC_ASSIGN(f.sha256, bytes->sha256());
  }
  return out;
}

bool compiles_with_data(const CompileOptions& options) {
  return !options.data.empty() && options.precision == "fp16" && options.quantized == nullptr;
}

Result<std::vector<DataSet>> read_compile_data(const CompileOptions& options, onnx::ImportOptions& import,
                                               Diagnostics& diagnostics) {
  MRVLC_ASSIGN(const auto declared, onnx::declared_inputs(options.model));
  MRVLC_ASSIGN(std::vector<DataSet> sets, read_samples(options.data, declared));
  for (const std::string& name : take_shapes(declared, sets, import))
    diagnostics.add(make_diag<DiagCode::MRV0145>(printable(name), to_string(import.input_shapes[name])));
  return sets;
}

Result<calibration::Calibration> calibration_of(const onnx::Model& model, std::vector<DataSet> sets) {
  const ir::Graph& graph = model.graph;
  MRVLC_TRY(interp::check_memory(graph));
  const int64_t each = run_cost(graph, std::vector<bool>{}).value_or(1);
  const auto affordable = static_cast<size_t>(std::max<int64_t>(1, kBudget / std::max<int64_t>(1, each)));
  calibration::Observer observer(graph);
  std::vector<calibration::KeptSample> kept;
  for (size_t k : spread_over(sets.size(), std::min(kMostSamples, affordable))) {
    DataSet& set = sets[k];
    calibration::KeptSample& sample = kept.emplace_back();
    sample.sample = static_cast<int64_t>(k);
    for (size_t i = 0; i < set.inputs.size() && i < graph.inputs().size(); ++i) {
      const ir::Value& input = graph.value(graph.inputs()[i]);
      set.inputs[i] = as_declared(std::move(set.inputs[i]), input.type);
      sample.inputs.emplace_back(calibration::recorded_name(input.name), set.inputs[i]);
    }
    if (Status ran = observer.add(set.inputs); !ran.ok()) return at_sample(ran.error(), set);
  }
  calibration::Calibration out = observer.result(model.sha256);
  out.kept = std::move(kept);
  return out;
}

}  // namespace mrvlc::driver
