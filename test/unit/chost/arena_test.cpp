#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "mrvlc/chost/chost.h"

using namespace mrvlc;
using namespace mrvlc::chost;

namespace {

void check_valid(const std::vector<Buffer>& buffers, const ArenaPlan& plan, int64_t alignment) {
  REQUIRE(plan.offsets.size() == buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    CHECK(plan.offsets[i] % alignment == 0);
    CHECK(plan.offsets[i] + buffers[i].size <= plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool alive = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      bool apart = plan.offsets[i] + buffers[i].size <= plan.offsets[j] ||
                   plan.offsets[j] + buffers[j].size <= plan.offsets[i];
      if (alive && !apart) FAIL("buffers " << i << " and " << j << " overlap");
    }
  }
}

}  // namespace

TEST_CASE("nothing to plan needs no memory") {
  ArenaPlan plan = plan_arena({}, 64);
  CHECK(plan.bytes == 0);
  CHECK(plan.lower_bound == 0);
}

TEST_CASE("a chain of buffers shares memory") {
  std::vector<Buffer> chain;
  for (uint32_t i = 0; i < 10; ++i) chain.push_back({1000, i, i + 1});
  ArenaPlan plan = plan_arena(chain, 64);
  check_valid(chain, plan, 64);
  CHECK(plan.lower_bound == 2048);
  CHECK(plan.bytes == 2048);
}

TEST_CASE("the plan reaches the lower bound where greedy by size does not") {
  // By size alone the two long buffers leave a hole of 5 between them.
  std::vector<Buffer> b = {{4, 0, 2}, {5, 1, 3}, {4, 3, 5}, {3, 2, 4}, {6, 4, 6}, {2, 0, 1}, {2, 5, 6}};
  ArenaPlan plan = plan_arena(b, 1);
  check_valid(b, plan, 1);
  CHECK(plan.bytes == plan.lower_bound);
}

TEST_CASE("random plans are valid, deterministic and near the bound") {
  uint32_t state = 1;
  auto random = [&](uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
  };
  for (int round = 0; round < 5; ++round) {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 120; ++i) {
      uint32_t first = random(60);
      buffers.push_back({static_cast<int64_t>(random(100000) + 1), first, first + random(8)});
    }
    ArenaPlan plan = plan_arena(buffers, 64), again = plan_arena(buffers, 64);
    check_valid(buffers, plan, 64);
    CHECK(plan.offsets == again.offsets);
    CHECK(static_cast<double>(plan.bytes) <= 1.06 * static_cast<double>(plan.lower_bound));
  }
}

TEST_CASE("hard instances stay within a quarter of the bound") {
  const char* shared = std::getenv("MRVLC_SHARED");
  if (shared == nullptr) return;
  std::filesystem::path folder = std::filesystem::path(shared) / "data" / "allocation";
  if (!std::filesystem::exists(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    std::vector<Buffer> buffers;
    while (std::getline(file, line)) {
      long long id = 0, lower = 0, upper = 0, size = 0;
      char comma = 0;
      std::istringstream(line) >> id >> comma >> lower >> comma >> upper >> comma >> size;
      if (size > 0) buffers.push_back({size, static_cast<uint32_t>(lower), static_cast<uint32_t>(upper - 1)});
    }
    ArenaPlan plan = plan_arena(buffers, 1);
    check_valid(buffers, plan, 1);
    INFO(entry.path().filename().string() << ": " << plan.bytes);
    CHECK(plan.bytes <= 1048576 * 5 / 4);
  }
}
