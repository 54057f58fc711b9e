// Random tile programs, placed: what lives at the same time lies apart, and what is loaded is there in time.
#include "place/placement.h"

#include <catch2/catch.hpp>
#include <random>

#include "mrvlc/target/machine.h"

namespace mrvlc::accel {
namespace {

struct Dice {
  std::mt19937 random;
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
};

Item fetched(Dice& dice, const target::Machine& machine, int64_t first, int64_t last) {
  Item item;
  item.kind = backend::MemoryUse::Kind::Weights;
  item.bytes = aligned(dice.pick(64, 60'000), machine);
  item.first = first;
  item.last = last;
  item.prefetch = true;
  int64_t pieces = dice.pick(1, 3);
  for (int64_t k = 0; k < pieces; ++k) {
    Transfer t;
    t.run = item.bytes / pieces;
    t.ocm = k * t.run;
    item.loads.push_back({0xff, t});
  }
  return item;
}

TileProgram any_program(Dice& dice, const target::Machine& machine) {
  TileProgram p;
  p.tiles = 8;
  p.constant_end = 1 << 30;
  int64_t steps = dice.pick(1, 60);
  for (int64_t s = 0; s < steps; ++s) {
    TileStep step;
    step.primitive = static_cast<uint32_t>(s / 2);
    step.cycles = static_cast<double>(dice.pick(10, 4000));
    p.steps.push_back(step);
  }
  int64_t items = dice.pick(1, 40);
  for (int64_t k = 0; k < items; ++k) {
    int64_t first = dice.pick(0, steps - 1), last = std::min(steps - 1, first + dice.pick(0, 6));
    if (dice.pick(0, 1) == 0) {
      p.fetches.push_back(static_cast<uint32_t>(p.items.size()));
      p.items.push_back(fetched(dice, machine, first, last));
      continue;
    }
    Item item;
    item.bytes = aligned(dice.pick(64, 120'000), machine);
    item.first = first;
    item.last = last;
    item.kind = backend::MemoryUse::Kind::Activation;
    p.items.push_back(item);
  }
  std::ranges::stable_sort(p.fetches, {}, [&](uint32_t k) { return p.items[k].first; });
  return p;
}

// The first step before which the item takes room.
int64_t room_from(const Item& item) {
  if (item.loads.empty()) return item.first;
  int64_t from = item.start;
  for (int64_t s : item.load_steps) from = from < 0 ? s : std::min(from, s);
  return from;
}

size_t overlaps(const TileProgram& p) {
  size_t n = 0;
  for (size_t a = 0; a < p.items.size(); ++a)
    for (size_t b = a + 1; b < p.items.size(); ++b) {
      const Item &x = p.items[a], &y = p.items[b];
      bool together = room_from(x) <= y.last && room_from(y) <= x.last;
      n += together && x.address < y.address + y.bytes && y.address < x.address + x.bytes;
    }
  return n;
}

size_t late(const TileProgram& p) {
  size_t n = 0;
  for (uint32_t k : p.fetches) {
    const Item& i = p.items[k];
    if (i.load_steps.empty()) {
      n += i.start < 0 || i.start > i.first;
      continue;
    }
    n += i.load_steps.size() != i.loads.size();
    for (int64_t s : i.load_steps) n += s < 0 || s > i.first;
  }
  return n;
}

TEST_CASE("placed items lie apart, inside the memory, and their loads come in time") {
  auto machine = target::load_machine("cn10ka", {});
  REQUIRE(machine.ok());
  size_t placed = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice{std::mt19937(seed)};
    machine->ocm_bytes = dice.pick(0, 2) == 0 ? 1 << 18 : 1 << 20;
    TileProgram p = any_program(dice, *machine);
    INFO("seed " << seed);
    if (place(p, *machine, 0.25).shortage) continue;
    ++placed;
    size_t misplaced = 0;
    for (const Item& i : p.items)
      misplaced += i.address < 0 || i.address % machine->ocm_alignment != 0 ||
                   i.address + i.bytes > static_cast<int64_t>(machine->ocm_bytes);
    CHECK(misplaced == 0);
    CHECK(overlaps(p) == 0);
    CHECK(late(p) == 0);
  }
  CHECK(placed > 150);
}

TEST_CASE("too much at one step is a shortage at its primitive") {
  auto machine = target::load_machine("cn10ka", {});
  REQUIRE(machine.ok());
  TileProgram p;
  for (uint32_t s = 0; s < 3; ++s) p.steps.push_back({0, s + 7, 100, 0});
  for (int k = 0; k < 3; ++k) {
    Item item;
    item.bytes = 400 << 10;
    item.first = k == 0 ? 0 : 1;
    item.last = 1;
    p.items.push_back(item);
  }
  auto placed = place(p, *machine, 0.25);
  REQUIRE(placed.shortage);
  CHECK(placed.shortage->primitive == 8);
}

}  // namespace
}  // namespace mrvlc::accel
