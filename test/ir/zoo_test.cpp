// Real models through the pipelines: whatever the passes do, the reference interpreter computes the same
// before and after; and every model reads back from its printed form. Models: those of
// $MRVLC_SHARED/data/zoo, or of `shared` beside the checkout, and ONNX's test models where they are
// installed; none are needed.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "helpers.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/passes/pass.h"
#include "paths.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

constexpr uintmax_t kMostBytes = 1'600'000;  // the reference is slow; small models suffice

namespace fs = std::filesystem;

std::vector<fs::path> models_under(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code ec;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ec)) {
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<fs::path> zoo() {
  const char* variable = std::getenv("MRVLC_SHARED");
  const fs::path shared =
      variable != nullptr ? fs::path(variable) : fs::path(MRVLC_SOURCE_DIR) / ".." / "shared";
  return models_under(shared / "data" / "zoo");
}

std::vector<fs::path> small_models() {
  std::vector<fs::path> models = zoo();
  std::erase_if(models, [](const fs::path& path) { return fs::file_size(path) >= kMostBytes; });
  return models;
}

// The graph reads back from its text, and prints the same again.
void check_round_trip(const ir::Graph& graph) {
  const std::string text = ir::print(graph);
  auto again = ir::parse(text, ops::registry());
  if (!again.ok()) FAIL(again.error().message);
  CHECK(ir::structurally_equal(graph, *again));
  CHECK(ir::print(*again) == text);
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
  for (const auto& path : small_models()) {
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

TEST_CASE("models read back from their text", "[ir][zoo]") {
  std::vector<fs::path> all = zoo();
  for (const fs::path& path : models_under("/usr/share/libonnx-testdata/data")) all.push_back(path);
  for (const fs::path& path : all) {
    CAPTURE(path.string());
    Diagnostics diagnostics;
    auto model = onnx::import_file(path, {}, diagnostics);
    if (!model) continue;
    check_round_trip(model->graph);
    Status s = passes::run_passes(model->graph, passes::default_pipeline());
    if (!s.ok()) FAIL(format_diag(path.filename().string(), s.error()));
    check_round_trip(model->graph);
  }
}
