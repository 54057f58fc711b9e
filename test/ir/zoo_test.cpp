// Real models through the pipelines: whatever the passes do, the reference interpreter computes the same
// before and after. Needs models in $MRVLC_SHARED/data/zoo; without them there is nothing to check.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "helpers.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

constexpr uintmax_t kMostBytes = 1'600'000;  // the reference is slow; small models suffice

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> out;
  const char* shared = std::getenv("MRVLC_SHARED");
  std::filesystem::path zoo = std::filesystem::path(shared != nullptr ? shared : "") / "data/zoo";
  if (shared == nullptr || !std::filesystem::is_directory(zoo)) return out;
  for (const auto& entry : std::filesystem::directory_iterator(zoo)) {
    if (entry.path().extension() == ".onnx" && entry.file_size() < kMostBytes) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Largest difference relative to the largest magnitude of the expected tensor. Quantised results may differ
// by a step where a value sits on a rounding boundary.
double relative_error(const Tensor& want, const Tensor& got) {
  double error = 0, scale = 1e-6;
  for (int64_t i = 0; i < want.elements(); ++i) {
    double w = want.as_double(i), d = std::abs(w - got.as_double(i));
    scale = std::max(scale, std::abs(w));
    error = std::max(error, std::isnan(d) && !std::isnan(w) ? INFINITY : d);
  }
  return error / scale;
}

}  // namespace

TEST_CASE("models compute the same after the pipelines", "[passes][zoo]") {
  for (const auto& path : models()) {
    CAPTURE(path.filename().string());
    Diagnostics diagnostics;
    auto model = onnx::import_file(path, {}, diagnostics);
    if (!model) continue;  // what the importer takes is its own tests' concern
    auto inputs = interp::seeded_inputs(model->graph, 1);
    auto want = interp::run(model->graph, inputs);
    REQUIRE(want.ok());
    for (auto pipeline : {passes::default_pipeline(), passes::host_pipeline()}) {
      ir::Graph g = model->graph;
      Status s = passes::run_passes(g, pipeline);
      if (!s.ok()) FAIL(format_diag(path.filename().string(), s.error()));
      auto got = interp::run(g, inputs);
      REQUIRE(got.ok());
      for (size_t i = 0; i < want->size(); ++i) {
        double limit = is_float((*want)[i].elem()) ? 1e-4 : 0.02;
        CHECK(relative_error((*want)[i], (*got)[i]) <= limit);
      }
    }
  }
}
