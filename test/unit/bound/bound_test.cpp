// The formula, on facts written out by hand.
#include "bound/bound.h"

#include <catch2/catch.hpp>

namespace mrvlc::accel {
namespace {

target::Machine machine() {
  auto m = target::load_machine("cn10ka", {});
  REQUIRE(m.ok());
  return *m;
}

// Without what a copy takes beyond its bytes.
target::Machine without_latency() {
  target::Machine m = machine();
  m.ddr_latency = m.instruction_overhead = 0;
  return m;
}

// ResNet-50 v1 at 224x224: products over the peak rate, and weights; nothing else.
RegionFacts resnet50() {
  RegionFacts facts;
  auto conv = [&](int64_t pixels, int64_t k, int64_t channels) {
    facts.layers.push_back({pixels * k * channels / 256, 0, 0, 2 * k * channels, 0, 0});
  };
  conv(112 * 112, 7 * 7 * 3, 64);
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 0, in = 64, side = 56, width = 64; stage < 4; ++stage, side /= 2, width *= 2) {
    for (int64_t block = 0; block < blocks[stage]; ++block, in = 4 * width) {
      conv(side * side, in, width);
      conv(side * side, 9 * width, width);
      conv(side * side, width, 4 * width);
      if (block == 0) conv(side * side, in, 4 * width);
    }
  }
  conv(1, 2048, 1000);
  return facts;
}

}  // namespace

TEST_CASE("ResNet-50 v1 by products and weights alone has the published figures") {
  RegionFacts facts = resnet50();
  int64_t cycles = 0;
  for (const LayerFacts& l : facts.layers) cycles += l.pod_cycles;
  CHECK(cycles / 8 == 3857973248 / 2048);
  auto near = [](uint64_t a, uint64_t b) { return a + 10 > b && b + 10 > a; };
  CHECK(near(lower_bound(facts, without_latency(), 8), 2325016));
}

TEST_CASE("weights that do not fit the chip wait for DDR after the layers before them") {
  target::Machine m = without_latency();
  RegionFacts facts;
  facts.layers = {{8000, 0, 0, 0, 0, 0}, {80, 0, 0, int64_t{8} * m.ocm_bytes + 3200}};
  // The last 3200 bytes cannot be on chip before the first layer has ended; all bytes take longer still.
  CHECK(lower_bound(facts, m, 8) == static_cast<uint64_t>(facts.layers[1].weight_bytes / 32));
  facts.layers[0].pod_cycles = int64_t{8} * m.ocm_bytes;
  CHECK(lower_bound(facts, m, 8) == m.ocm_bytes + 100);
  m.ddr_bytes = 64;
  CHECK(lower_bound(facts, m, 8) == m.ocm_bytes + 50);
}

TEST_CASE("matrix and vector unit work at the same time, a drain keeps the matrix unit") {
  target::Machine m = without_latency();
  RegionFacts facts;
  facts.layers = {{800, 0, 0, 0, 0, 0}, {0, 160, 0, 0, 0, 0}, {0, 0, 880, 0, 0, 0}};
  CHECK(lower_bound(facts, m, 8) == 120);
  facts.layers[2].pe_cycles = 1600;
  CHECK(lower_bound(facts, m, 8) == 200);
  CHECK(lower_bound(facts, m, 1) == 1600);
}

TEST_CASE("what needs the whole input waits for its bytes") {
  target::Machine m = without_latency();
  RegionFacts facts;
  facts.layers = {{800, 0, 0, 0, 0, 0}, {8000, 0, 0, 0, 8000, 0}};
  facts.input_bytes = facts.first_bytes = 32 * 300;
  CHECK(lower_bound(facts, m, 8) == 1300);
  facts.first_bytes = 32 * 10;
  CHECK(lower_bound(facts, m, 8) == 1100);
}

TEST_CASE("every byte crosses DDR once, and a tile's link") {
  target::Machine m = without_latency();
  RegionFacts facts;
  facts.layers = {{0, 0, 0, 3200, 0, 0}};
  facts.input_bytes = 6400;
  facts.output_bytes = 9600;
  CHECK(lower_bound(facts, m, 8) == 600);
  m.ddr_bytes = 640;
  CHECK(lower_bound(facts, m, 8) == 30);
  CHECK(lower_bound(facts, m, 1) == 150);
}

TEST_CASE("the first copy comes before the first product, the last one after the last") {
  target::Machine m = machine();
  int64_t copy = int64_t{m.ddr_latency} + m.instruction_overhead;
  RegionFacts facts;
  facts.layers = {{8000, 0, 0, 0, 0, 0}};
  facts.input_bytes = facts.output_bytes = 64;
  CHECK(lower_bound(facts, m, 8) == static_cast<uint64_t>(1000 + 2 * copy));
  facts.layers = {{0, 0, 0, 0, 0, 0}};
  facts.output_bytes = 0;
  CHECK(lower_bound(facts, m, 8) == static_cast<uint64_t>(2 + copy));
}

}  // namespace mrvlc::accel
