#include <catch2/catch.hpp>

#include "support.h"
#include "zoo.h"

using namespace mrvlc;

TEST_CASE("real networks compiled to C agree with the reference outputs") {
  auto data = test::shared_data();
  if (data.empty()) {
    WARN("no reference data: set MRVLC_SHARED");
    return;
  }
  for (const auto& model : test::kZoo) {
    DYNAMIC_SECTION(model.name) {
      driver::VerifyOptions v;
      v.compile.model = data / "zoo" / (std::string(model.name) + ".onnx");
      v.compile.targets = {"host"};
      v.data = {data / "golden" / model.name};
      v.tolerance = model.host_tolerance;
      std::string errors;
      auto worst = test::verify(v, errors);
      INFO(errors);
      REQUIRE(worst.has_value());
      CHECK(*worst <= model.host_tolerance);
    }
  }
}
