// The calibration file: written and read back, and refused when anything in it is wrong.
#include "mrvlc/calibration/file.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "graphs.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::calibration {
namespace {

using calibration_test::chain;
using Json = nlohmann::ordered_json;

const std::string kHash(64, 'a');

Calibration observed() {
  const ir::Graph graph = chain({"Neg", "Exp"}, {50});
  Observer observer(graph);
  for (uint32_t seed : {1u, 2u}) REQUIRE(observer.add(interp::seeded_inputs(graph, seed)).ok());
  return observer.result(kHash);
}

std::string why_refused(const Json& json) {
  const auto got = parse(json.dump(), "cal.json");
  if (got.ok()) return "";
  CHECK(got.error().code == DiagCode::MRV0905);
  CHECK_THAT(got.error().message, Catch::Contains("cal.json"));
  return got.error().message;
}

TEST_CASE("what is written is read back, to the same bytes") {
  const Calibration c = observed();
  const auto read = parse(to_json(c), "cal.json");
  REQUIRE(read.ok());
  CHECK(*read == c);
  CHECK(to_json(*read) == to_json(c));
}

TEST_CASE("every damage is found") {
  const Json good = Json::parse(to_json(observed()));
  REQUIRE(why_refused(good).empty());
  const auto damaged = [&](auto change, const std::string& why) {
    Json json = good;
    change(json);
    INFO(why);
    CHECK_THAT(why_refused(json), Catch::Contains(why));
  };
  const auto value = [](Json& j) -> Json& { return j["values"][2]; };
  damaged([](Json& j) { j["schema"] = "mrvlc-manifest-1"; }, "its schema is not mrvlc-calibration-1");
  damaged([](Json& j) { j = Json::array(); }, "its schema");
  damaged([](Json& j) { j.erase("model"); }, "'sha256' is no text");
  damaged([](Json& j) { j["model"]["sha256"] = "abc"; }, "is no SHA-256");
  damaged([](Json& j) { j["samples"] = 0; }, "'samples' is no number from 1");
  damaged([](Json& j) { j["samples"] = "2"; }, "'samples'");
  damaged([](Json& j) { j["values"] = 3; }, "'values' is no list");
  damaged([](Json& j) { j["values"][0] = nullptr; }, "value 0: 'name' is no text");
  damaged([&](Json& j) { value(j)["name"] = "x"; }, "value 2: 'name' was there before");
  damaged([&](Json& j) { value(j)["input"] = 1; }, "'input'");
  damaged([&](Json& j) { value(j)["type"] = "bool"; }, "'type'");
  damaged([&](Json& j) { value(j)["elements"] = -1; }, "'elements'");
  damaged([&](Json& j) { value(j)["non_finite"] = 101; }, "'non_finite'");
  damaged([&](Json& j) { value(j)["min"] = nullptr; }, "'min' is no number");
  damaged([&](Json& j) { value(j)["min"] = 1e3; }, "'mean' does not lie between");
  damaged([&](Json& j) { value(j)["mean"] = 1e3; }, "'mean' does not lie between");
  damaged([&](Json& j) { value(j)["max_abs"] = 0.5; }, "'max_abs'");
  damaged([&](Json& j) { value(j)["fp16_subnormal_share"] = 1.5; }, "'fp16_subnormal_share'");
  damaged([&](Json& j) { value(j)["percentiles"].erase(8); }, "'percentiles' are not nine numbers");
  damaged([&](Json& j) { value(j)["percentiles"][4] = 7; }, "'percentiles' do not rise");
  damaged([&](Json& j) { value(j)["percentiles"][4] = "7"; }, "'percentiles' do not rise");
  damaged([&](Json& j) { value(j)["non_finite"] = value(j)["elements"]; }, "'max' is of no element");
}

TEST_CASE("text that is no JSON is refused, nested as deep as may be") {
  const std::string good = to_json(observed());
  for (size_t length : {size_t{0}, size_t{1}, good.size() / 2, good.size() - 3})
    CHECK(parse(good.substr(0, length), "f").error().code == DiagCode::MRV0905);
  CHECK_FALSE(parse(std::string(1 << 20, '['), "f").ok());
  CHECK_FALSE(parse(std::string(1 << 16, '[') + std::string(1 << 16, ']'), "f").ok());
  CHECK_FALSE(parse(R"({"schema":"mrvlc-calibration-1","samples":1e999})", "f").ok());
}

TEST_CASE("inputs are drawn as the data had them, where that is known") {
  const ir::Graph graph = chain({"Neg"}, {4000});
  Calibration c;
  Summary s;
  s.elements = 10;
  s.min = -3;
  s.max = 5;
  s.percentiles = {-3, -3, -2, -1, 0, 1, 2, 5, 5};
  c.values = {{"x", true, ElementType::F32, s, {}, {}}, {"n", true, ElementType::I64, s, {}, {}}};
  const Distributions got = distributions_of(graph, c);
  CHECK(got.size() == 1);  // n is no int64 in this graph
  REQUIRE(got.contains(0));
  const Tensor x = draw_inputs(graph, 1, got)[0];
  Statistics drawn;
  drawn.add(x);
  CHECK(drawn.summary().min >= -3);
  CHECK(drawn.summary().max <= 5);
  CHECK(drawn.summary().percentiles[4] == Approx(0).margin(0.1));
  CHECK(drawn.summary().percentiles[5] == Approx(1).margin(0.2));
  s.non_finite = 10;
  c.values = {{"x", true, ElementType::F32, s, {}, {}}};
  CHECK(distributions_of(graph, c).empty());
}

}  // namespace
}  // namespace mrvlc::calibration
