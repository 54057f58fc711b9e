#include <catch2/catch.hpp>

#include "random_program.h"

using namespace mrvlc;
using namespace mrvlc::sim;

namespace {

struct Outcome {
  std::string bytes, error;
  size_t hazards = 0;
};

Outcome run_on(const isa::Binary& b, unsigned jobs, bool detect = true) {
  auto sim = Simulator::create(b, machine());
  if (!sim.ok()) return {"", sim.error().message};
  std::string input(b.inputs[0].elements() * 2, '\0');
  for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<char>(i % 2 == 0 ? i * 37 : 0x30 + i % 7);
  std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(input.data(), input.size()))};
  std::vector<std::string> outputs;
  Options options;
  options.jobs = jobs, options.detect_hazards = detect;
  auto r = sim->run(inputs, outputs, options);
  if (!r.ok()) return {"", r.error().message};
  return {outputs[0], "", r->hazards.size()};
}

isa::Binary random_binary(uint32_t seed, uint8_t tiles) {
  return binary(RandomProgram(seed, tiles).make(150), tiles, 8192, uint32_t{tiles} * 4096);
}

}  // namespace

TEST_CASE("the number of threads never changes a bit") {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    isa::Binary b = random_binary(seed, static_cast<uint8_t>(1 << seed % 4));
    Outcome one = run_on(b, 1);
    INFO("seed " << seed);
    REQUIRE(one.error == "");
    REQUIRE(one.hazards == 0);
    for (unsigned jobs : {0u, 2u, 3u, 16u}) {
      Outcome many = run_on(b, jobs);
      CHECK(many.error == "");
      CHECK(many.bytes == one.bytes);
    }
    CHECK(run_on(b, 4, false).bytes == one.bytes);
  }
}

TEST_CASE("with hazards the program means what its order says, on any number of threads") {
  size_t hazardous = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    isa::Binary b = random_binary(seed, 4);
    for (Instruction& i : b.main) i.waits.clear();
    Outcome one = run_on(b, 1), many = run_on(b, 8);
    INFO("seed " << seed);
    REQUIRE(one.error == "");
    CHECK(one.bytes == many.bytes);
    CHECK(one.hazards == many.hazards);
    CHECK(one.bytes == run_on(random_binary(seed, 4), 8).bytes);
    hazardous += one.hazards > 0;
  }
  CHECK(hazardous == 12);
}

TEST_CASE("a wait that random programs need is missed when it is gone") {
  size_t missed = 0, removed = 0;
  for (uint32_t seed = 100; seed < 106; ++seed) {
    isa::Binary b = random_binary(seed, 2);
    for (size_t i = 5; i < b.main.size(); i += 17) {
      if (b.main[i].waits.empty()) continue;
      isa::Binary without = b;
      without.main[i].waits.clear();
      ++removed;
      missed += run_on(without, 2).hazards > 0;
    }
  }
  CHECK(removed > 20);
  CHECK(missed * 4 > removed);  // some waits are implied by others
}
