// The analytic model that schedules are chosen by, against the simulator, on whole networks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "mrvlc/accel/accel.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/cost/timing.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/passes/widen_f16.h"
#include "support.h"
#include "zoo.h"

using namespace mrvlc;

namespace {

struct Sample {
  std::string what;
  double estimated = 0, simulated = 0;
  double error() const { return std::fabs(estimated - simulated) / simulated; }
};

target::Machine machine() {
  auto m = target::load_machine("cn10ka", {});
  REQUIRE(m.ok());
  return *m;
}

// One sample a region.
void add(const std::filesystem::path& file, uint32_t tiles, std::vector<Sample>& samples) {
  INFO(file.stem().string() << ", " << tiles << " tiles");
  Diagnostics diagnostics;
  auto model = onnx::import_file(file, {}, diagnostics);
  REQUIRE(model.has_value());
  REQUIRE(passes::run_passes(model->graph, passes::default_pipeline()).ok());
  target::Machine m = machine();
  const backends::Opened backend = std::move(backends::open(m, {.tiles = tiles}).value());
  auto parts = partition::partition(model->graph, backend.get(), {});
  REQUIRE(parts.ok());
  for (const partition::Region& region : parts->regions) {
    accel::Options o;
    o.tiles = tiles;
    o.name = "region";
    auto compiled = accel::compile_region(model->graph, region, m, o);
    REQUIRE(compiled.ok());
    auto timing = cost::time_program(compiled->binary.main, m);
    REQUIRE(timing.ok());
    samples.push_back({file.stem().string() + ", " + std::to_string(tiles) + " tiles",
                       static_cast<double>(compiled->estimated_cycles), static_cast<double>(timing->cycles)});
  }
}

// Short programs are mostly latency, which the model knows to a few instructions only.
void check(std::vector<Sample> samples) {
  constexpr double kShort = 2000, kShortError = 250, kError = 0.15, kMedian = 0.05;
  REQUIRE(!samples.empty());
  std::ranges::stable_sort(samples, std::greater(), &Sample::error);
  for (size_t i = 0; i < std::min<size_t>(samples.size(), 8); ++i)
    UNSCOPED_INFO(samples[i].what << ": estimated " << samples[i].estimated << ", simulated "
                                  << samples[i].simulated << ", off by " << 100 * samples[i].error() << " %");
  CHECK(samples[samples.size() / 2].error() < kMedian);
  auto far = std::ranges::count_if(samples, [](const Sample& s) {
    double allowed = s.simulated > kShort ? kError * s.simulated : kShortError;
    return std::fabs(s.estimated - s.simulated) > allowed;
  });
  CHECK(far == 0);
}

}  // namespace

TEST_CASE("the estimate of our own networks") {
  std::vector<Sample> samples;
  for (uint32_t tiles : {1u, 2u, 4u, 8u}) {
    add(test::own_model("digits/digits.onnx"), tiles, samples);
    for (const char* name : {"resnet50", "mobilenetv2", "ssd_resnet50", "transformer_encoder"})
      if (std::filesystem::exists(test::generated_model(name)))
        add(test::generated_model(name), tiles, samples);
  }
  check(samples);
}

TEST_CASE("the estimate of real networks") {
  auto data = test::shared_data();
  if (data.empty()) {
    WARN("no reference data: set MRVLC_SHARED");
    return;
  }
  std::vector<Sample> samples;
  for (const auto& model : test::kZoo)
    if (model.cnn) add(data / "zoo" / (std::string(model.name) + ".onnx"), 8, samples);
  check(samples);
}
