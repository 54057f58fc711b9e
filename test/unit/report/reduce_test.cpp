#include "reduce.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "example.h"
#include "mrvlc/support/base64.h"
#include "pack.h"

using namespace mrvlc;
using namespace mrvlc::report;

namespace {

uint64_t instructions(const Lanes& lanes) {
  uint64_t n = 0;
  for (const auto& lane : lanes) {
    for (const Bar& b : lane) n += b.count;
  }
  return n;
}

}  // namespace

TEST_CASE("merging keeps every instruction, every byte and the order") {
  Region region = test::example_region(1000);
  Lanes lanes = lanes_of(region);
  CHECK(bar_count(lanes) == 2000);
  uint64_t widest = merge_bars(lanes, 100);
  CHECK(bar_count(lanes) <= 100);
  CHECK(instructions(lanes) == 2000);
  uint64_t bytes = 0, expected = 0;
  for (const auto& lane : lanes) {
    for (size_t i = 0; i < lane.size(); ++i) {
      bytes += lane[i].bytes;
      CHECK(lane[i].end - lane[i].start <= widest);
      CHECK(lane[i].start <= lane[i].begin);
      CHECK(lane[i].moved <= lane[i].end);
      if (i > 0) CHECK(lane[i - 1].end <= lane[i].start);
    }
  }
  for (const Bar& b : region.bars) expected += b.bytes;
  CHECK(bytes == expected);
}

TEST_CASE("what fits is not merged") {
  Lanes lanes = lanes_of(test::example_region(10));
  CHECK(merge_bars(lanes, 20) == 0);
  CHECK(bar_count(lanes) == 20);
  CHECK(instructions(lanes) == 20);
}

TEST_CASE("one bar for each queue is the end of merging, and bars of length 0 do not stop it") {
  Lanes lanes(4);
  for (uint64_t i = 0; i < 100; ++i) {
    Bar b;
    b.start = b.begin = b.moved = b.end = i * 1000000007;
    for (auto& lane : lanes) lane.push_back(b);
  }
  CHECK(merge_bars(lanes, 0) > 0);
  CHECK(bar_count(lanes) == 4);
  CHECK(instructions(lanes) == 400);
}

TEST_CASE("the longest bar of a span speaks for it") {
  Lanes lanes(1);
  for (uint32_t i = 0; i < 3; ++i) {
    Bar b;
    b.start = b.begin = i * 10;
    b.moved = b.end = b.start + (i == 1 ? 9 : 2);
    b.layer = i;
    b.bound = static_cast<uint8_t>(i);
    lanes[0].push_back(b);
  }
  merge_bars(lanes, 1);
  REQUIRE(lanes[0].size() == 1);
  CHECK(lanes[0][0].layer == 1);
  CHECK(lanes[0][0].bound == 1);
}

TEST_CASE("a merged path still covers all of the time") {
  Region region = test::example_region(1000);
  auto path = region.path;
  CHECK(merge_path(path, 50) > 0);
  CHECK(path.size() <= 50);
  uint64_t at = 0;
  for (const Stretch& s : path) {
    CHECK(s.start == at);
    at = s.end;
  }
  CHECK(at == region.main_cycles);
}

TEST_CASE("the largest uses of memory stay, in their order") {
  std::vector<MemoryUse> uses;
  for (uint32_t i = 0; i < 10; ++i) uses.push_back({"", 0, 1, 0, i % 2 == 0 ? 1000 + i : 10, 0, 100, i});
  CHECK(drop_memory(uses, 5) == 5);
  REQUIRE(uses.size() == 5);
  for (uint32_t i = 0; i < 5; ++i) CHECK(uses[i].layer == 2 * i);
  CHECK(drop_memory(uses, 5) == 0);
}

TEST_CASE("base64 of RFC 4648, section 10") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe") == "//4=");
}
