#include <catch2/catch.hpp>

#include "support.h"

using namespace mrvlc;

namespace {

void check(const std::filesystem::path& model, const std::vector<std::string>& targets, double tolerance) {
  driver::VerifyOptions v;
  v.compile.model = model;
  v.compile.targets = targets;
  v.tolerance = tolerance;
  std::string errors;
  auto worst = test::verify(v, errors);
  INFO(errors);
  REQUIRE(worst.has_value());
  CHECK(*worst <= tolerance);
}

}  // namespace

TEST_CASE("the digits network agrees with the reference interpreter") {
  check(test::own_model("digits/digits.onnx"), {"cn10ka"}, 2e-2);
  check(test::own_model("digits/digits.onnx"), {"host"}, 1e-4);
}

TEST_CASE("the seeded networks agree with the reference interpreter") {
  for (const char* name : {"rfc_example", "resnet50", "mobilenetv2", "ssd_resnet50", "transformer_encoder"}) {
    if (!std::filesystem::exists(test::generated_model(name))) {
      WARN(name << " was not generated (python3-onnx is missing)");
      continue;
    }
    DYNAMIC_SECTION(name << " on the accelerator") {
      check(test::generated_model(name), {"cn10ka"}, 2e-2);
    }
    DYNAMIC_SECTION(name << " on the host") {
      check(test::generated_model(name), {"host"}, 1e-4);
    }
  }
}

TEST_CASE("fewer tiles give the same answers") {
  for (uint32_t tiles : {1u, 2u, 4u}) {
    driver::VerifyOptions v;
    v.compile.model = test::own_model("digits/digits.onnx");
    v.compile.tiles = tiles;
    std::string errors;
    auto worst = test::verify(v, errors);
    INFO(errors);
    REQUIRE(worst.has_value());
    CHECK(*worst <= 2e-2);
  }
}
