// Inputs drawn from ranges and distributions.
#include "mrvlc/calibration/draw.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "graphs.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::calibration {
namespace {

using calibration_test::chain;

std::pair<double, double> ends(const Tensor& t) {
  const std::vector<double> all = t.to_doubles();
  return {*std::min_element(all.begin(), all.end()), *std::max_element(all.begin(), all.end())};
}

TEST_CASE("quantiles are linear between their points") {
  const Quantiles q{{{0, -4}, {0.25, 0}, {1, 3}}};
  CHECK(q.at(0) == -4);
  CHECK(q.at(0.125) == -2);
  CHECK(q.at(0.25) == 0);
  CHECK(q.at(0.5) == Approx(1));
  CHECK(q.at(1) == 3);
  CHECK(uniform(-3e38, 3e38).at(0.5) == 0);  // the difference of the ends is not finite in float32
  CHECK(uniform(-1.7e308, 1.7e308).at(0.5) == 0);
}

TEST_CASE("without a distribution inputs are the interpreter's seeded ones") {
  const ir::Graph graph = chain({"Neg"}, {100});
  CHECK(draw_inputs(graph, 3, {}) == interp::seeded_inputs(graph, 3));
}

TEST_CASE("a range holds for the inputs that its pattern names, the last one that does") {
  const ir::Graph graph = chain({"Neg"}, {1000});
  const auto one = distributions_of(graph, {{"x", -8, -2}});
  REQUIRE(one.ok());
  std::vector<Tensor> inputs = draw_inputs(graph, 1, *one);
  CHECK(ends(inputs[0]).first >= -8);
  CHECK(ends(inputs[0]).first < -7.9);
  CHECK(ends(inputs[0]).second <= -2);
  CHECK(ends(inputs[0]).second > -2.1);
  CHECK(inputs[1] == interp::seeded_inputs(graph, 1)[1]);
  const auto all = distributions_of(graph, {{"*", 0, 200}, {"x", 7, 7}});
  REQUIRE(all.ok());
  inputs = draw_inputs(graph, 1, *all);
  CHECK(ends(inputs[0]) == std::pair<double, double>(7, 7));
  CHECK(ends(inputs[1]).second > 190);
}

TEST_CASE("seeds and inputs differ, the same seed does not") {
  const ir::Graph graph = chain({"Neg"}, {64});
  const auto range = distributions_of(graph, {{"x", 0, 1000}});
  REQUIRE(range.ok());
  CHECK(draw_inputs(graph, 1, *range) == draw_inputs(graph, 1, *range));
  CHECK_FALSE(draw_inputs(graph, 1, *range)[0] == draw_inputs(graph, 2, *range)[0]);
}

TEST_CASE("integers are rounded, and stay within the range") {
  const ir::Graph graph = chain({"Neg"}, {2000});
  const auto range = distributions_of(graph, {{"n", 250, 255}});
  REQUIRE(range.ok());
  CHECK(ends(draw_inputs(graph, 1, *range)[1]) == std::pair<double, double>(250, 255));
}

TEST_CASE("ranges that cannot be are refused") {
  ir::Graph graph = chain({"Neg"}, {2});
  graph.add_input("flag", {ElementType::Bool, {2}});
  graph.add_input("half", {ElementType::F16, {2}});
  const auto refused = [&](const InputRange& range, const std::string& why) {
    const auto got = distributions_of(graph, {range});
    REQUIRE_FALSE(got.ok());
    CHECK(got.error().code == DiagCode::MRV0004);
    CHECK_THAT(got.error().message, Catch::Contains(why));
  };
  refused({"z*", 0, 1}, "no input of the model has that name");
  refused({"flag", 0, 1}, "which holds no numbers");
  refused({"n", 0, 256}, "which cannot hold 256");
  refused({"n", -1, 3}, "which cannot hold -1");
  refused({"half", 0, 1e5}, "which cannot hold 100000");
  refused({"x", 0, 1e39}, "which cannot hold 1e+39");
}

}  // namespace
}  // namespace mrvlc::calibration
