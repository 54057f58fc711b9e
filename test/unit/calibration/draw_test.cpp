// Inputs drawn from ranges and distributions.
#include "mrvlc/calibration/draw.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

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

// The mean of |x[i] - x[i + step]| along rows of `length`.
double roughness(const std::vector<double>& x, size_t length, size_t step) {
  double sum = 0, count = 0;
  for (size_t i = 0; i + step < x.size(); ++i) {
    if (step < length && i % length + step >= length) continue;
    sum += std::abs(x[i] - x[i + step]), ++count;
  }
  return sum / count;
}

TEST_CASE("neighbours of smooth inputs are alike, in rows, columns and channels") {
  const ir::Graph graph = chain({"Neg"}, {1, 3, 40, 50});
  const std::vector<double> noise = draw_inputs(graph, 5, {})[0].to_doubles();
  const std::vector<double> x = draw_inputs(graph, 5, {}, Texture::Smooth)[0].to_doubles();
  CHECK(*std::ranges::min_element(x) == 0);
  CHECK(*std::ranges::max_element(x) == 1);
  CHECK(roughness(noise, 50, 1) > 0.3);
  CHECK(roughness(x, 50, 1) < 0.05);      // along a row
  CHECK(roughness(x, 50, 50) < 0.06);     // down a column
  CHECK(roughness(x, 50, 2000) < 0.15);   // from channel to channel
  CHECK(roughness(x, 50, 2000) > 0.001);  // which are not the same
  CHECK_FALSE(draw_inputs(graph, 6, {}, Texture::Smooth) == draw_inputs(graph, 5, {}, Texture::Smooth));
  CHECK(draw_inputs(graph, 5, {}, Texture::Smooth) == draw_inputs(graph, 5, {}, Texture::Smooth));
  // Means over windows differ as they do in pictures; those of noise hardly.
  const auto spread = [](const std::vector<double>& all) {
    double least = 1, most = 0;
    for (size_t block = 0; block < all.size(); block += 500) {
      double mean = 0;
      for (size_t i = block; i < block + 500; ++i) mean += all[i] / 500;
      least = std::min(least, mean), most = std::max(most, mean);
    }
    return most - least;
  };
  CHECK(spread(x) > 4 * spread(noise));
}

TEST_CASE("between the points of a scale smooth inputs rise and fall evenly") {
  const std::vector<double> x = draw_inputs(chain({"Neg"}, {512}), 1, {}, Texture::Smooth)[0].to_doubles();
  double largest = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - x[i + 1]));
  CHECK(largest < 0.06);  // nine scales, of which none makes steps of more than 1 / 256 or so
}

TEST_CASE("smooth inputs keep to their range; short ones and integers without one are noise") {
  const ir::Graph picture = chain({"Neg"}, {16, 16});
  const auto range = distributions_of(picture, {{"x", -3, 9}, {"n", 10, 250}});
  REQUIRE(range.ok());
  const std::vector<Tensor> inputs = draw_inputs(picture, 1, *range, Texture::Smooth);
  CHECK(ends(inputs[0]) == std::pair<double, double>(-3, 9));
  CHECK(ends(inputs[1]) == std::pair<double, double>(10, 250));
  CHECK(draw_inputs(picture, 1, {}, Texture::Smooth)[1] == draw_inputs(picture, 1, {})[1]);
  const ir::Graph shorter = chain({"Neg"}, {7, 7});
  CHECK(draw_inputs(shorter, 1, {}, Texture::Smooth) == draw_inputs(shorter, 1, {}));
  const ir::Graph none = chain({"Neg"}, {0, 16});
  CHECK(draw_inputs(none, 1, {}, Texture::Smooth)[0].elements() == 0);
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
