// What every answer must be, whatever finds it.
#include <catch2/catch.hpp>

#include "instances.h"

using namespace mrvlc::alloc;
using namespace mrvlc::alloc::test;

TEST_CASE("nothing, and items that occupy nothing") {
  CHECK(minimise_peak({}).peak == 0);
  CHECK(minimise_peak({}).proven);
  std::vector<Item> items = {{3, 3, 100}, {0, 5, 0}, {7, 2, 8}, {0, 5, -4}};
  Placement p = minimise_peak(items);
  CHECK(p.peak == 0);
  CHECK(p.offsets == std::vector<int64_t>(4, 0));
  CHECK(place_within(items, 0));
  CHECK_FALSE(place_within(items, -1));
  CHECK(peak_load(items).items.empty());
}

TEST_CASE("one item") {
  Placement p = minimise_peak({{0, 1, 100}}, {.alignment = 64});
  CHECK(p.peak == 128);
  CHECK(p.lower_bound == 128);
  CHECK(p.proven);
  CHECK(p.offsets == std::vector<int64_t>{0});
  CHECK(place_within({{0, 1, 100}}, 128, {.alignment = 64}));
  CHECK_FALSE(place_within({{0, 1, 100}}, 127, {.alignment = 64}));
}

TEST_CASE("lives that only touch share bytes") {
  Placement p = minimise_peak({{0, 5, 10}, {5, 9, 10}, {9, 10, 10}});
  CHECK(p.peak == 10);
}

TEST_CASE("offsets are aligned and valid, in every order of the same items") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Item> items = network(150, seed);
    for (Item& i : items) i.size += static_cast<int64_t>(seed);
    Placement p = minimise_peak(items, {.alignment = 128});
    INFO("seed " << seed);
    CHECK(fault(items, p, 128) == "");
    CHECK(p.lower_bound % 128 == 0);
    CHECK(p.lower_bound == peak_load(items, 128).bytes);
    CHECK(p.offsets == minimise_peak(items, {.alignment = 128}).offsets);
  }
}

TEST_CASE("negative times and large sizes") {
  constexpr int64_t kLarge = int64_t{1} << 58;
  std::vector<Item> items = {{-10, -5, kLarge}, {-7, 3, kLarge + 1}, {-5, 0, kLarge - 1}};
  Placement p = minimise_peak(items);
  CHECK(fault(items, p) == "");
  CHECK(p.peak == 2 * kLarge + 1);
}

TEST_CASE("the load says where it is greatest and what is alive there") {
  std::vector<Item> items = {{0, 4, 10}, {2, 6, 30}, {3, 5, 20}, {5, 9, 35}};
  Peak p = peak_load(items);
  CHECK(p.time == 5);
  CHECK(p.bytes == 65);
  CHECK(p.items == std::vector<uint32_t>{3, 1});
  CHECK(peak_load(items, 16).bytes == 80);
}

TEST_CASE("many easy items") {
  std::vector<Item> items = network(50'000, 1);
  Placement p = minimise_peak(items, {.alignment = 64});
  CHECK(p.peak <= p.lower_bound + p.lower_bound / 200);
  std::vector<std::pair<Item, int64_t>> alive;
  for (size_t i = 0; i < items.size(); ++i) {
    std::erase_if(alive, [&](const auto& a) { return a.first.end <= items[i].begin; });
    for (const auto& [other, offset] : alive) {
      bool apart = p.offsets[i] + items[i].size <= offset || offset + other.size <= p.offsets[i];
      REQUIRE(apart);
    }
    alive.emplace_back(items[i], p.offsets[i]);
  }
}

TEST_CASE("as many items as there may be at one time") {
  std::vector<Item> items(20'000, Item{0, 100, 16});
  CHECK(minimise_peak(items).peak == 16 * 20'000);
  Random random(3);
  for (Item& i : items) i = {random.below(1000), 1000 + random.below(1000), 1 + random.below(100)};
  Placement p = minimise_peak(items);
  CHECK(p.peak >= p.lower_bound);
}

namespace {

// Where best fit puts items of which one begins at each time, by looking at every gap; that many at most.
std::vector<int64_t> best_fit(const std::vector<Item>& items) {
  std::vector<int64_t> offsets(items.size(), 0);
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<std::pair<int64_t, int64_t>> taken;  // sorted: from, to
    for (size_t k = 0; k < i; ++k)
      if (items[k].end > items[i].begin) taken.emplace_back(offsets[k], offsets[k] + items[k].size);
    std::sort(taken.begin(), taken.end());
    int64_t end = 0, least = INT64_MAX;
    for (const auto& [from, to] : taken) {
      const int64_t gap = from - end;
      if (gap >= items[i].size && gap < least) offsets[i] = end, least = gap;
      end = to;
    }
    if (least == INT64_MAX) offsets[i] = end;
  }
  return offsets;
}

}  // namespace

TEST_CASE("with no effort, best fit in the order of time") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    std::vector<Item> items;
    // What ends between two beginnings keeps them apart; of two at about one time the longer goes first.
    for (int64_t t = 0; t < 400; t += 4) {
      items.push_back({t, t + 6 + random.below(120), 1 + random.below(40)});
      items.push_back({t + 1, t + 2, 1 + random.below(40)});
    }
    items.push_back({400, 401, 1});
    CHECK(minimise_peak(items, {.effort = 0}).offsets == best_fit(items));
  }
}

TEST_CASE("first fit, one by one") {
  FirstFit fit(100, 10);
  CHECK(fit.place({0, 10, 35}) == 0);
  CHECK(fit.place({0, 5, 20}) == 40);
  CHECK(fit.place({5, 10, 30}) == 40);
  CHECK(fit.peak() == 70);
  CHECK_FALSE(fit.place({0, 10, 31}));
  CHECK(fit.find({0, 10, 30}) == 70);
  CHECK(fit.find({20, 21, 100}) == 0);
  CHECK(fit.find({0, 0, 1000}) == 0);
  CHECK(fit.remove({5, 10, 30}, 40));
  CHECK_FALSE(fit.remove({5, 10, 30}, 40));
  CHECK(fit.find({5, 10, 60}) == 40);
  fit.keep({0, 10, 7}, 43);
  CHECK(fit.find({5, 10, 10}) == 60);  // above 43 + 10, aligned
  CHECK(fit.size() == 3);
}
