// How large inputs may be: the search alone.
#include <algorithm>
#include <catch2/catch.hpp>

#include "accuracy/input_limits.h"

namespace mrvlc::driver {
namespace {

TEST_CASE("the search finds where accuracy ends, in as many runs as it has, and claims nothing untried") {
  for (int most = 1; most <= 40; ++most)
    for (int runs = 1; runs <= 12; ++runs)
      for (int end = 0; end <= most; ++end) {
        std::vector<int> tried;
        const int found = largest_good(most, runs, [&](int exponent) {
          tried.push_back(exponent);
          return exponent <= end;
        });
        CAPTURE(most, runs, end, found);
        CHECK(found <= end);
        CHECK(static_cast<int>(tried.size()) <= runs);
        CHECK((found == 0 || std::ranges::find(tried, found) != tried.end()));
        CHECK(std::ranges::all_of(tried, [&](int t) { return t >= 1 && t <= most; }));
        // With as many runs as exponents, or for the usual range of fp16 with nine, nothing is missed.
        if (runs >= most || (most == 16 && runs >= 9)) CHECK(found == end);
      }
}

TEST_CASE("a single run is one small step") {
  CHECK(largest_good(16, 1, [](int) { return true; }) == 3);
  CHECK(largest_good(2, 1, [](int) { return true; }) == 2);
  CHECK(largest_good(16, 1, [](int) { return false; }) == 0);
  CHECK(largest_good(16, 0, [](int) { return true; }) == 0);
}

TEST_CASE("smaller inputs are tried by powers of ten until one is not good, then zero") {
  const auto found = [](int runs, double least, bool zero) {
    int asked = 0;
    const Smallest s = smallest_good(runs, [&](double factor) {
      ++asked;
      return factor == 0 ? zero : factor > least;
    });
    CHECK(asked <= runs);
    return std::pair(s.factor, s.zero);
  };
  CHECK(found(5, 0, true) == std::pair(0.0, true));
  CHECK(found(5, 0.05, true) == std::pair(0.1, true));
  CHECK(found(5, 0.5, true) == std::pair(1.0, true));
  CHECK(found(5, 0.5, false) == std::pair(1.0, false));
  CHECK(found(5, 0, false).second == false);
  CHECK(found(5, 0, false).first > 0);
  CHECK(found(1, 0.5, false) == std::pair(1.0, true));
  CHECK(found(0, 0.5, false) == std::pair(0.0, true));
}

TEST_CASE("what is stated is a limit, a little wider") {
  ir::Graph graph;
  graph.add_input("x", {ElementType::F32, {4}});
  graph.add_input("n", {ElementType::I32, {4}});
  graph.add_input("h", {ElementType::F16, {4}});
  const auto limits = stated_limits(
      graph,
      {{0, calibration::uniform(0, 255)}, {1, calibration::uniform(0, 3)}, {2, calibration::uniform(-2, 1)}});
  REQUIRE(limits.size() == 2);
  CHECK(limits[0].input == 0);
  CHECK((limits[0].least < 0 && limits[0].least > -1));
  CHECK((limits[0].most > 255 && limits[0].most < 256));
  CHECK(limits[1].input == 2);
  CHECK((limits[1].least < -2 && limits[1].most > 1));
}

}  // namespace
}  // namespace mrvlc::driver
