// A reader that is cut otherwise than what makes a tensor reads a second window of it.
#include "plan/second_window.h"

#include <catch2/catch.hpp>

#include "plan/residency.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kPixels = 64, kChannels = 128;
constexpr uint32_t kTiles = 8, kFirst = 1, kPassedOn = 2, kLast = 3;

WindowOp a_product(uint32_t from, uint32_t to) {
  WindowOp op;
  op.group_in = op.group_out = kChannels;
  op.phases = {WindowPhase{}};
  op.in_h = op.out_h = kPixels;
  for (WindowOp::Image* i : {&op.x, &op.out}) {
    i->stride_h = i->stride_w = kChannels;
    i->offsets = {0};
  }
  op.x.buffer = from;
  op.out.buffer = to;
  return op;
}

Program two_products() {
  Program p;
  for (const auto kind : {Buffer::Kind::Input, Buffer::Kind::Scratch, Buffer::Kind::Output}) {
    Buffer b;
    b.kind = kind;
    b.pitch = kChannels * 2;
    b.rows = kPixels;
    b.bytes = b.pitch * b.rows;
    p.buffers.push_back(b);
  }
  p.primitives = {a_product(kFirst, kPassedOn), a_product(kPassedOn, kLast)};
  return p;
}

// The groups read all channels of their own rows: made in columns, read in rows.
const Cut kByRows{8, 1}, kByColumns{1, 8};

TEST_CASE("made in columns and read in rows takes two windows") {
  const Program p = two_products();
  const std::optional<Program> parted = with_second_windows(p, {kByColumns, kByRows}, kTiles);
  REQUIRE(parted);
  REQUIRE(parted->buffers.size() == p.buffers.size() + 1);
  CHECK(parted->buffers.back().copy_of == kPassedOn);
  CHECK(std::get<WindowOp>(parted->primitives[0]).out.buffer == kPassedOn);
  CHECK(std::get<WindowOp>(parted->primitives[1]).x.buffer == p.buffers.size());
}

TEST_CASE("one window is enough where cuts agree, and where a reader wants all of it") {
  CHECK(!with_second_windows(two_products(), {kByRows, kByRows}, kTiles));
  CHECK(!with_second_windows(two_products(), {kByColumns, kByColumns}, kTiles));  // each reads all channels
}

TEST_CASE("both windows are on chip or neither is") {
  Program p = *with_second_windows(two_products(), {kByColumns, kByRows}, kTiles);
  const auto copy = static_cast<uint32_t>(p.buffers.size() - 1);
  const target::Machine m = *target::load_machine("cn10ka", {});
  for (const uint32_t spilled : {UINT32_MAX, kPassedOn, copy}) {
    std::vector<bool> spills(p.buffers.size(), false);
    if (spilled != UINT32_MAX) spills[spilled] = true;
    const std::vector<Residence> found = choose_residency(p, {kByColumns, kByRows}, m, kTiles, spills);
    CHECK(found[kPassedOn].on_chip == (spilled == UINT32_MAX));
    CHECK(found[copy].on_chip == found[kPassedOn].on_chip);
    CHECK(found[copy].first == 0);  // makers write it
    CHECK(found[copy].bytes == kPixels / kTiles * kChannels * 2);
  }
}

}  // namespace
}  // namespace mrvlc::accel
