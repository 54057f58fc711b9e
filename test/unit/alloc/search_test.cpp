// How good the answers are.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "instances.h"

using namespace mrvlc::alloc;
using namespace mrvlc::alloc::test;

TEST_CASE("a search that is cut short gives what fits, or nothing") {
  int none = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Item> items = guillotine(80, 1000, 120, seed);
    auto p = place_within(items, 1000, {.effort = 1});
    none += !p;
    if (p) CHECK(fault(items, *p) == "");
    if (p) CHECK(p->peak <= 1000);
  }
  CHECK(none > 0);
}

TEST_CASE("as good as every order of a few items") {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    std::vector<Item> items;
    for (int i = 0; i < 7; ++i) {
      int64_t begin = random.below(8);
      items.push_back({begin, begin + 1 + random.below(6), 1 + random.below(9)});
    }
    Placement p = minimise_peak(items);
    INFO("seed " << seed);
    CHECK(fault(items, p) == "");
    CHECK(p.proven);
    CHECK(p.peak == least_peak(items));
    CHECK(place_within(items, p.peak));
    CHECK_FALSE(place_within(items, p.peak - 1));
  }
}

TEST_CASE("packings without waste are found") {
  for (auto [count, time, size] :
       {std::tuple<size_t, int64_t, int64_t>{20, 40, 60}, {40, 60, 300}, {60, 80, 1000}}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      std::vector<Item> items = guillotine(time, size, count, seed);
      auto p = place_within(items, size);
      INFO(count << " items, seed " << seed);
      REQUIRE(p);
      CHECK(fault(items, *p) == "");
      CHECK(p->peak == size);
      CHECK_FALSE(place_within(items, size - 1));
    }
  }
}

TEST_CASE("more peaks of different height") {
  std::vector<Item> items = guillotine(50, 400, 40, 5);
  for (Item i : guillotine(50, 300, 40, 6)) items.push_back({i.begin + 50, i.end + 50, i.size});
  items.push_back({45, 55, 7});
  Placement p = minimise_peak(items);
  CHECK(fault(items, p) == "");
  CHECK(p.peak == 407);
}

TEST_CASE("a hard stretch in a long easy time") {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    std::vector<Item> items = network(1500, seed);
    int64_t size = peak_load(items).bytes + 5000;
    for (Item i : guillotine(60, size, 40, seed)) items.push_back({i.begin + 2000, i.end + 2000, i.size});
    for (int64_t t = 1490; t < 2010; ++t) items.push_back({t, t + 2, 1});  // one part in time
    Placement p = minimise_peak(items);
    INFO("seed " << seed);
    CHECK(fault(items, p) == "");
    CHECK(p.proven);
  }
}

TEST_CASE("the order of the items is of no account") {
  std::vector<Item> items = guillotine(60, 500, 50, 2), turned(items.rbegin(), items.rend());
  Placement a = minimise_peak(items), b = minimise_peak(turned);
  CHECK(a.peak == b.peak);
  CHECK(a.steps == b.steps);
}

TEST_CASE("little effort still gives an answer") {
  std::vector<Item> items = guillotine(200, 5000, 200, 9);
  Placement p = minimise_peak(items, {.alignment = 1, .effort = 1});
  CHECK(fault(items, p) == "");
  CHECK_FALSE(p.proven);
}

TEST_CASE("hard instances of MiniMalloc") {
  const char* shared = std::getenv("MRVLC_SHARED");
  if (!shared) return;
  auto folder = std::filesystem::path(shared) / "data" / "allocation";
  if (!std::filesystem::exists(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    std::vector<Item> items = read_csv(entry.path());
    auto p = place_within(items, 1'048'576);
    INFO(entry.path().filename());
    REQUIRE(items.size() > 100);
    REQUIRE(p);
    CHECK(p->peak <= 1'048'576);
    CHECK(fault(items, *p) == "");
  }
}
