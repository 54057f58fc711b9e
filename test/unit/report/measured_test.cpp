// What was measured of a program's steps beside what was expected of them.
#include "profile/measured.h"

#include <catch2/catch.hpp>

using namespace mrvlc;
using namespace mrvlc::driver;

namespace {

idmap::Map map_of() {
  idmap::Map map;
  map.layers = {{0, 0, "r", "conv", {3, 4}}};
  map.host_functions = {{.symbol = "m_conv", .expr_id = 1, .fused = {2}},
                        {.symbol = "m_cpu3", .expr_id = 3},
                        {.symbol = "m_softmax", .expr_id = 5},
                        {.symbol = "m_run", .expr_id = 1, .fused = {5}}};
  return map;
}

// Milliseconds: of expressions 1, 2 and 5 on the host 2, 1 and 0.5, of the region 4.
Report report_of() {
  Report report;
  report.regions.resize(1);
  report.regions[0].seconds = 0.004;
  report.partition.seconds = 0.0075;
  report.host.nodes = {
      {.expr_id = 1, .seconds = 0.002}, {.expr_id = 2, .seconds = 0.001}, {.expr_id = 5, .seconds = 0.0005}};
  return report;
}

Measured measured(bool simulated) {
  Measured m;
  m.simulated = simulated;
  for (const auto& [expr, ms] : {std::pair{1u, 3.5}, {3u, 90.0}, {5u, 0.75}, {9u, 100.0}})
    m.steps.push_back({expr, ms});
  add_expected(m, report_of(), map_of());
  return m;
}

}  // namespace

TEST_CASE("a step is expected to take what all it computes takes") {
  const Measured m = measured(false);
  CHECK(m.expected_ms == 7.5);
  CHECK(m.steps[0].expected_ms == 3);  // with what is fused behind it
  CHECK(m.steps[1].expected_ms == 4);
  CHECK(m.steps[2].expected_ms == 0.5);
  CHECK_FALSE(m.steps[3].expected_ms);
  CHECK(m.steps[1].region == 0u);  // though the host has a function for it, too
  for (const size_t host : {0u, 2u, 3u}) CHECK_FALSE(m.steps[host].region);
}

TEST_CASE("the worst step is one that can be compared") {
  const Measured device = measured(false), simulator = measured(true);
  REQUIRE(worst(device) != nullptr);
  CHECK(worst(device)->expr == 3);
  REQUIRE(worst(simulator) != nullptr);
  CHECK(worst(simulator)->expr == 1);  // 0.5 ms beyond, where softmax is 0.25 beyond
  Measured early = simulator;
  for (Measured::Step& s : early.steps) s.least_ms = 0.1;
  CHECK(worst(early) == nullptr);
}
