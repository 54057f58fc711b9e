// MACs of a model are the same number, and the right one, on every page.
#include "compiled.h"
#include "mrvlc/driver/driver.h"

using namespace mrvlc;
using test::Json;

namespace {

// c1: 8 x 8 x 8 results of 3 x 3 x 3; dw: 8 x 8 x 8 of 3 x 3; fc: 4 of 8.
constexpr int64_t kC1 = 512 * 27, kDw = 512 * 9, kFc = 32, kAll = kC1 + kDw + kFc;

std::string inspected(const test::Compiled& c, const std::string& name) {
  driver::CompileOptions options;
  options.model = c.out.parent_path() / (name + ".onnx");
  Diagnostics diagnostics;
  auto text = driver::inspect(options, diagnostics);
  REQUIRE(text.has_value());
  return *text;
}

}  // namespace

TEST_CASE("every page has the MACs of the model") {
  auto c = test::compile_model(test::counted_model(), "macs");
  const Json report = c.json("report.json"), placement = c.json("placement.json"), profile = c.profile();
  CHECK(report["placement"]["macs"] == kAll);
  CHECK(report["placement"]["macs_accelerator"] == kAll);
  CHECK(report["placement"]["macs_cpu"] == 0);
  CHECK(report["placement"]["mac_share_accelerator"] == 1.0);
  CHECK(report["host"]["macs"] == 0);
  REQUIRE(report["regions"].size() == 1);
  CHECK(report["regions"][0]["macs"] == kAll);
  CHECK(profile["regions"][0]["macs"] == kAll);
  for (auto [node, macs] : {std::pair("c1", kC1),
                            {"dw", kDw},
                            {"fc", kFc},
                            {"r1", int64_t{0}},
                            {"gap", int64_t{0}},
                            {"flat", int64_t{0}}})
    CHECK(test::with(placement["nodes"], "name", node)["macs"] == macs);
  CHECK(inspected(c, "macs").find(fmt::format(" {} MACs\n", kAll)) != std::string::npos);
  CHECK(c.text("report.txt").find(fmt::format("({0} of {0})", kAll)) != std::string::npos);
  CHECK(c.text("report.html").find(fmt::format("\"macs\":{},\"host_macs\":0", kAll)) != std::string::npos);
}

TEST_CASE("layers have the MACs of their operators, and one tile executes as many") {
  auto c = test::compile_model(test::counted_model(), "layer_macs");
  const Json profile = c.profile();
  const Json& layers = profile["regions"][0]["layers"];
  for (auto [operators, macs] :
       {std::pair("c1 (Conv) + r1 (Relu)", kC1), {"dw (Conv)", kDw}, {"fc (Gemm)", kFc}}) {
    const Json& layer = test::with(layers, "operators", operators);
    CHECK(layer["macs"] == macs);
    CHECK(layer["executed_macs"] == macs);
  }
  CHECK(profile["regions"][0]["executed_macs"] == kAll);
}

TEST_CASE("MACs on the CPU are the host's") {
  // g1: 2 x 8 results of 4, on the accelerator; g2: 2 x 2 results of 8, kept from it.
  auto c = test::compile_model(test::mixed_model(), "mixed", [](auto& o) { o.cpu = {"g2"}; });
  const Json report = c.json("report.json"), placement = c.json("placement.json");
  CHECK(report["placement"]["macs"] == 64 + 32);
  CHECK(report["placement"]["macs_accelerator"] == 64);
  CHECK(report["placement"]["macs_cpu"] == 32);
  CHECK(report["placement"]["mac_share_accelerator"].get<double>() == Approx(2.0 / 3));
  CHECK(report["host"]["macs"] == 32);
  CHECK(test::with(placement["nodes"], "name", "g1")["macs"] == 64);
  CHECK(test::with(placement["nodes"], "name", "g2")["macs"] == 32);
  CHECK(c.text("report.txt").find("on the CPU: main/2 'g2' (Gemm), 32 MACs: ") != std::string::npos);
}

TEST_CASE("MACs in bodies of control flow count, each branch once") {
  // 2 x 3 results of 4: two products in one branch (merged into one, as they are the same), one in the other.
  auto c = test::compile_model(test::branches_model(), "branches", [](auto& o) { o.targets = {"host"}; });
  const Json report = c.json("report.json"), placement = c.json("placement.json");
  int64_t all = 0;
  for (const Json& n : placement["nodes"]) all += n["macs"].get<int64_t>();
  CHECK(report["placement"]["macs"] == 48);
  CHECK(all == 48);
  CHECK(test::with(placement["nodes"], "name", "choice")["macs"] == 0);
  CHECK(test::with(placement["nodes"], "name", "then_branch_matmul")["macs"] == 24);
  CHECK(test::with(placement["nodes"], "name", "else_branch_matmul")["macs"] == 24);
}

TEST_CASE("a merged expression counts for one of its nodes") {
  // c: 4 x 8 x 8 results of 4; the normalisation became part of it.
  auto c = test::compile_model(test::merged_model(), "merged_macs");
  const Json placement = c.json("placement.json");
  CHECK(c.json("report.json")["placement"]["macs"] == 1024);
  CHECK(test::with(placement["nodes"], "name", "c")["macs"] == 1024);
  CHECK(test::with(placement["nodes"], "name", "bn")["macs"] == 0);
  CHECK(test::with(placement["nodes"], "name", "r")["macs"] == 0);
}
