// Most bytes of on-chip memory held at once, counted by hand.
#include "place/live_peak.h"

#include <catch2/catch.hpp>

using namespace mrvlc;
using backend::MemoryUse;

namespace {

backend::MemoryUse use(uint32_t begin, uint32_t end, uint32_t first, uint32_t last) {
  backend::MemoryUse u;
  u.begin = begin, u.end = end, u.first = first, u.last = last;
  return u;
}

}  // namespace

TEST_CASE("nothing holds nothing") {
  CHECK(accel::live_peak({}) == 0);
}

TEST_CASE("an address far up takes no more than its own bytes") {
  // A tensor of 512 B at the bottom and weights of 256 B below 1 MiB.
  std::vector<backend::MemoryUse> uses = {use(0, 512, 0, 3), use((1u << 20) - 256, 1u << 20, 1, 2)};
  CHECK(accel::live_peak(uses) == 768);
}

TEST_CASE("what is gone does not count with what comes after") {
  std::vector<backend::MemoryUse> uses = {use(0, 1000, 0, 4), use(2000, 2600, 5, 6), use(3000, 3500, 6, 9)};
  CHECK(accel::live_peak(uses) == 1100);  // the last two, at instruction 6
  uses[0].last = 5;
  CHECK(accel::live_peak(uses) == 1600);  // the first two, at instruction 5
}

TEST_CASE("bytes that two uses share count once") {
  // [0, 800) and its heir [400, 1000), together at instruction 3: 1000 bytes.
  std::vector<backend::MemoryUse> uses = {use(0, 800, 0, 3), use(400, 1000, 3, 5)};
  CHECK(accel::live_peak(uses) == 1000);
}

TEST_CASE("the order of uses does not matter") {
  std::vector<backend::MemoryUse> uses = {use(3000, 3500, 6, 9), use(0, 1000, 0, 5), use(2000, 2600, 5, 6)};
  CHECK(accel::live_peak(uses) == 1600);
}
