#include <catch2/catch.hpp>

#include "support.h"

using namespace mrvlc;

namespace {

void check(const std::filesystem::path& model, const std::vector<std::string>& targets, double tolerance) {
  driver::VerifyOptions v;
  v.compile.model = model;
  v.compile.targets = targets;
  v.tolerance = tolerance;
  v.sets = {"uniform"};
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

// Cycles depend on the program alone, so a schedule that becomes worse shows on every computer.
TEST_CASE("ResNet-50 keeps the cycles and the traffic it has reached") {
  if (!std::filesystem::exists(test::generated_model("full/resnet50"))) {
    WARN("resnet50 was not generated (python3-onnx is missing)");
    return;
  }
  driver::CompileOptions c;
  c.model = test::generated_model("full/resnet50");
  c.out = test::scratch("resnet50_schedule");
  std::string errors;
  bool ok = test::compile(c, errors);
  INFO(errors);
  REQUIRE(ok);
  auto regions = test::read_json(c.out / "report.json")["regions"];
  REQUIRE(regions.size() == 1);
  CHECK(regions[0]["cycles"].get<uint64_t>() <= 2'560'000);
  CHECK(regions[0]["ddr_read_bytes"].get<uint64_t>() <= 53'000'000);
}

TEST_CASE("fewer tiles give the same answers") {
  for (uint32_t tiles : {1u, 2u, 4u}) {
    driver::VerifyOptions v;
    v.compile.model = test::own_model("digits/digits.onnx");
    v.compile.accelerator.tiles = tiles;
    v.sets = {"uniform"};
    std::string errors;
    auto worst = test::verify(v, errors);
    INFO(errors);
    REQUIRE(worst.has_value());
    CHECK(*worst <= 2e-2);
  }
}
