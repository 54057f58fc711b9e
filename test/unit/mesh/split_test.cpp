// Graphs that are shared out to accelerators.
#include "mrvlc/mesh/split.h"

#include <catch2/catch.hpp>

using namespace mrvlc;
using namespace mrvlc::mesh;

namespace {

// Four nodes in a chain, of one second each, with costs of 0.25 between.
constexpr const char* kChain = R"({"maxSizePerFPGA": 10, "maxFPGAs": 2, "maxCPUs": 1, "nodes": [
 {"id": 1, "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1, "size": 1, "colorClass": 1},
 {"id": 2, "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1, "size": 1, "colorClass": 2},
 {"id": 3, "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1, "size": 1, "colorClass": 3},
 {"id": 4, "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1, "size": 1, "colorClass": 4}],
 "edges": [{"sourceId": 1, "destId": 2, "cost": 0.25}, {"sourceId": 2, "destId": 3, "cost": 0.25},
 {"sourceId": 3, "destId": 4, "cost": 0.25}]})";

std::string with_text(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a chain is cut in the middle") {
  const auto split = split_graph(kChain, {.steps = 2000, .seed = 1});
  REQUIRE(split.ok());
  CHECK(split->load == 2.25);
  CHECK(split_graph(kChain, {.steps = 2000, .seed = 1})->json == split->json);
}

TEST_CASE("nodes of one class lie together, and memory is kept") {
  const auto together =
      split_graph(with_text(kChain, "\"colorClass\": 4", "\"colorClass\": 1"), {.steps = 2000, .seed = 1});
  REQUIRE(together.ok());
  CHECK(together->load == 2.5);
  const auto small = split_graph(with_text(kChain, "\"maxSizePerFPGA\": 10", "\"maxSizePerFPGA\": 1"),
                                 {.steps = 2000, .seed = 1});
  REQUIRE(small.ok());
  CHECK(small->load == 20);  // two of them on the CPU
}

TEST_CASE("what is no graph is refused") {
  for (const char* text :
       {"", "{}", "[]", R"({"maxSizePerFPGA": 1, "maxFPGAs": 1, "maxCPUs": 0, "nodes": [], "edges": []})"})
    CHECK(!split_graph(text).ok());
  CHECK(!split_graph(with_text(kChain, "\"sourceId\": 1", "\"sourceId\": 9")).ok());
  CHECK(!split_graph(with_text(kChain, "\"id\": 2", "\"id\": 1")).ok());
  CHECK(!split_graph(with_text(kChain, "\"fpgaLatency\": 1", "\"fpgaLatency\": -1")).ok());
  CHECK(!split_graph(with_text(kChain, "\"maxFPGAs\": 2", "\"maxFPGAs\": 2e9")).ok());
}
