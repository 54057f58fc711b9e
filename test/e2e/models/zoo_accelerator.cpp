#include <catch2/catch.hpp>
#include <limits>

#include "support.h"
#include "zoo.h"

using namespace mrvlc;

// One section a model, so that every failure is reported.
TEST_CASE("real networks on the simulated accelerator agree with the reference outputs") {
  auto data = test::shared_data();
  if (data.empty()) {
    WARN("no reference data: set MRVLC_SHARED");
    return;
  }
  for (const auto& model : test::kZoo) {
    DYNAMIC_SECTION(model.name) {
      driver::VerifyOptions v;
      v.compile.model = data / "zoo" / (std::string(model.name) + ".onnx");
      v.data = {data / "golden" / model.name};
      bool compared = model.fp16_tolerance > 0;
      v.tolerance = compared ? model.fp16_tolerance : std::numeric_limits<double>::max();
      std::string errors;
      auto worst = test::verify(v, errors);
      INFO(errors);
      REQUIRE(worst.has_value());
      // Not a number, or of another shape, is infinitely far off.
      CHECK(*worst <= *v.tolerance);
    }
  }
}

TEST_CASE("nearly all MACs of the real CNNs are on the accelerator, in one region") {
  auto data = test::shared_data();
  if (data.empty()) return;
  for (const auto& model : test::kZoo) {
    if (!model.cnn) continue;
    DYNAMIC_SECTION(model.name) {
      driver::CompileOptions c;
      c.model = data / "zoo" / (std::string(model.name) + ".onnx");
      c.out = test::scratch(std::string("share_") + model.name);
      std::string errors;
      bool ok = test::compile(c, errors);
      INFO(errors);
      REQUIRE(ok);
      auto report = test::read_json(c.out / "report.json");
      CHECK(report["placement"]["mac_share_accelerator"].get<double>() >= 0.99);
      CHECK(report["regions"].size() == 1);
    }
  }
}
