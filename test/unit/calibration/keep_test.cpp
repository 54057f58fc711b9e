// Samples that calibration files hold: which ones, and whether they come back as they were.
#include "mrvlc/calibration/keep.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "graphs.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::calibration {
namespace {

using calibration_test::chain;
using Json = nlohmann::ordered_json;
using Samples = std::vector<std::vector<Tensor>>;

constexpr int64_t kElements = 300;

// y = exp(x): the larger x, the more a rounding of it moves y beside 1 + |y|.
ir::Graph graph() {
  return chain({"Exp"}, {kElements});
}

Samples samples(const std::vector<double>& amplitudes) {
  Samples out;
  for (size_t k = 0; k < amplitudes.size(); ++k) {
    std::vector<Tensor> inputs = interp::seeded_inputs(graph(), static_cast<uint32_t>(k + 1));
    for (float& v : inputs[0].mutable_data<float>()) v *= static_cast<float>(amplitudes[k]);
    out.push_back(std::move(inputs));
  }
  return out;
}

KeepOptions options() {
  KeepOptions out;
  out.budget = INT64_MAX;
  out.of_node = [](const ir::Node&) { return int64_t{kElements}; };
  return out;
}

std::vector<int64_t> numbers(const std::vector<KeptSample>& kept) {
  std::vector<int64_t> out;
  for (const KeptSample& k : kept) out.push_back(k.sample);
  return out;
}

Calibration with(const Samples& all, const KeepOptions& how) {
  const ir::Graph g = graph();
  Observer observer(g);
  for (const auto& sample : all) REQUIRE(observer.add(sample).ok());
  Calibration out = observer.result(std::string(64, 'a'));
  auto kept = keep_samples(g, all, how);
  REQUIRE(kept.ok());
  out.kept = *kept;
  return out;
}

TEST_CASE("the samples that roundings move most are kept, the worst first") {
  const Samples all = samples({0.1, 8, 1, 4, 2});
  KeepOptions how = options();
  how.most = 3;
  const Calibration c = with(all, how);
  CHECK(numbers(c.kept) == std::vector<int64_t>{1, 3, 4});
  CHECK(*c.kept[0].rounding_error > *c.kept[1].rounding_error);
  CHECK(c.kept[1].inputs[0].second == all[3][0]);
  CHECK(c.kept[1].inputs[1].first == "n");
}

TEST_CASE("without a budget to look they are spread, and there is no more than fits") {
  const Samples all = samples({1, 1, 1, 1, 1, 1, 1});
  KeepOptions how = options();
  how.budget = 0, how.most = 3;
  CHECK(numbers(with(all, how).kept) == std::vector<int64_t>{0, 3, 6});
  CHECK_FALSE(with(all, how).kept[0].rounding_error.has_value());
  how.most = 1;
  CHECK(numbers(with(all, how).kept) == std::vector<int64_t>{0});
  how.most = 0;
  CHECK(with(all, how).kept.empty());
  how.most = 7;
  constexpr size_t kEach = 4 * (kElements * 5 / 3);  // float32 and uint8 in base64
  how.max_characters = 2 * kEach;
  CHECK(with(all, how).kept.size() == 2);
  how.max_characters = 2 * kEach - 1;
  CHECK(with(all, how).kept.size() == 1);
}

TEST_CASE("what is kept is read back, to the bit") {
  Samples all = samples({1, 2});
  std::span<float> x = all[0][0].mutable_data<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 256) / 255.0f;  // a picture
  x[1] = -0.0f, x[2] = 1e-42f;
  const Calibration c = with(all, options());
  const std::string text = to_json(c);
  const auto read = parse(text, "cal.json");
  REQUIRE(read.ok());
  CHECK(*read == c);
  CHECK(to_json(*read) == text);
  const auto first_input_of = [](const std::string& file, int64_t sample) {
    const Json json = Json::parse(file);
    for (const Json& k : json.at("kept"))
      if (k.at("sample") == sample) return k.at("inputs").at(0);
    return Json();
  };
  CHECK(first_input_of(text, 0).contains("data"));  // 258 levels are too many
  CHECK(first_input_of(text, 1).contains("data"));
  for (float& v : x) v = v < 0.5f ? 0.25f : 0.75f;
  const Calibration few = with(all, options());
  CHECK(first_input_of(to_json(few), 0).contains("levels"));
  CHECK_FALSE(first_input_of(to_json(few), 0).contains("data"));
  CHECK(*parse(to_json(few), "f") == few);
}

TEST_CASE("they are inputs of a graph that has these inputs, and of no other") {
  const Samples all = samples({1, 2, 4});
  const Calibration c = with(all, options());
  CHECK(kept_inputs(graph(), c).size() == 3);
  CHECK(kept_inputs(graph(), c)[0] == all[2]);
  CHECK(kept_inputs(graph(), c, 2).size() == 2);
  CHECK(kept_inputs(chain({"Exp"}, {2, kElements / 2}), c).empty());
  ir::Graph more = graph();
  more.add_input("z", {ElementType::F32, {1}});
  CHECK(kept_inputs(more, c).empty());
}

TEST_CASE("damage to what is kept is found") {
  const Json good = Json::parse(to_json(with(samples({1, 2}), options())));
  const auto why = [&](auto change) {
    Json json = good;
    change(json["kept"]);
    const auto got = parse(json.dump(), "cal.json");
    return got.ok() ? std::string() : got.error().message;
  };
  using Catch::Contains;
  CHECK(why([](Json&) {}).empty());
  CHECK_THAT(why([](Json& k) { k = 3; }), Contains("'kept' is no list"));
  CHECK_THAT(why([](Json& k) { k[0]["sample"] = 2; }), Contains("'sample' is no number from 0 to 1"));
  CHECK_THAT(why([](Json& k) { k[0]["sample"] = k[1]["sample"]; }), Contains("was there before"));
  CHECK_THAT(why([](Json& k) { k[0]["rounding_error"] = -1; }), Contains("'rounding_error'"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"] = 1; }), Contains("'inputs' is no list"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["name"] = "v0"; }), Contains("'name' is no input"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["type"] = "f64"; }), Contains("'type'"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["shape"] = Json{299}; }), Contains("'shape' is not that"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["shape"] = Json{1 << 20, 1 << 20}; }), Contains("'shape'"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["shape"] = Json{-1}; }), Contains("'shape'"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["data"] = "AAA"; }), Contains("'data' is no base64"));
  CHECK_THAT(why([](Json& k) { k[0]["inputs"][0]["data"] = "AAAA"; }), Contains("'shape' is not that"));
  CHECK_THAT(why([](Json& k) {
               k[0]["inputs"][0]["levels"] = "AAAAAA==";
               k[0]["inputs"][0]["indices"] = "AAEA";
             }),
             Contains("'indices' name a level"));
}

}  // namespace
}  // namespace mrvlc::calibration
