#include "code/tracker.h"

#include <catch2/catch.hpp>

namespace mrvlc::accel {
namespace {

using isa::Queue;

isa::Instruction at(uint8_t tile, Queue queue) {
  isa::Instruction i;
  i.tile = tile;
  i.queue = queue;
  return i;
}

isa::Instruction load(uint8_t tile, uint64_t ddr, uint64_t ocm, uint32_t bytes, uint8_t tiles) {
  isa::Instruction i = at(tile, Queue::DmaIn);
  isa::Dma d;
  d.src = ddr;
  d.dst = ocm;
  d.run_bytes = bytes;
  d.dst_tiles = tiles;
  i.body = d;
  return i;
}

isa::Instruction store(uint8_t tile, uint64_t ocm, uint64_t ddr, uint32_t bytes) {
  isa::Instruction i = at(tile, Queue::DmaOut);
  isa::Dma d;
  d.src_space = isa::Space::Ocm;
  d.dst_space = isa::Space::Ddr;
  d.src = ocm;
  d.dst = ddr;
  d.run_bytes = bytes;
  i.body = d;
  return i;
}

isa::Instruction copy(uint8_t tile, uint32_t from, uint32_t to, uint32_t elements) {
  isa::Instruction i = at(tile, Queue::Pe);
  isa::Elementwise e;
  e.dims[4] = elements;
  e.a = {from, isa::DataType::F16, {0, 0, 0, 0, 2}};
  e.dst = {to, isa::DataType::F16, {0, 0, 0, 0, 2}};
  i.body = e;
  return i;
}

TEST_CASE("a reader waits for the writer, the next writer for the reader") {
  Tracker tracker(0);
  std::vector<isa::Instruction> out;
  tracker.append(load(0, 0x1000, 0, 64, 1), out);
  tracker.append(copy(0, 0, 256, 32), out);
  tracker.append(load(0, 0x2000, 32, 64, 1), out);
  REQUIRE(out.size() == 3);
  CHECK(out[0].waits.empty());
  CHECK(out[1].waits == std::vector<isa::Wait>{{0, Queue::DmaIn, 1}});
  CHECK(out[2].waits == std::vector<isa::Wait>{{0, Queue::Pe, 1}});
}

TEST_CASE("what shares no granule needs no wait, what shares one does") {
  Tracker tracker(0);
  std::vector<isa::Instruction> out;
  tracker.append(load(0, 0x1000, 0, 64, 1), out);
  tracker.append(copy(0, 128, 256, 16), out);
  tracker.append(copy(0, 512, 288, 16), out);
  tracker.append(load(0, 0x2000, 318, 2, 1), out);  // the last granule of 288..320
  CHECK(out[1].waits.empty());
  CHECK(out[2].waits.empty());
  CHECK(out[3].waits == std::vector<isa::Wait>{{0, Queue::Pe, 2}});
}

TEST_CASE("a wait that follows from another is left out") {
  Tracker tracker(0);
  std::vector<isa::Instruction> out;
  tracker.append(load(0, 0x1000, 0, 64, 3), out);  // multicast to tiles 0 and 1
  tracker.append(copy(1, 0, 256, 32), out);        // waits for the load
  tracker.append(store(1, 256, 0x3000, 64), out);  // waits for the copy
  tracker.append(load(2, 0x3000, 0, 64, 2), out);  // reads the store, overwrites what load and copy used
  CHECK(out[1].waits == std::vector<isa::Wait>{{0, Queue::DmaIn, 1}});
  CHECK(out[2].waits == std::vector<isa::Wait>{{1, Queue::Pe, 1}});
  CHECK(out[3].waits == std::vector<isa::Wait>{{1, Queue::DmaOut, 1}});
}

TEST_CASE("more waits than an instruction has become Sync instructions") {
  Tracker tracker(0);
  std::vector<isa::Instruction> out;
  for (uint8_t t = 0; t < 8; ++t) tracker.append(store(t, 0, 0x1000u + 64u * t, 64), out);
  tracker.append(load(0, 0x1000, 4096, 512, 1), out);
  REQUIRE(out.size() == 10);
  CHECK(std::holds_alternative<isa::Sync>(out[8].body));
  CHECK(out[8].queue == Queue::DmaIn);
  CHECK(out[8].waits.size() + out[9].waits.size() == 8);
  tracker.append(copy(0, 4096, 8192, 16), out);
  CHECK(out[10].waits == std::vector<isa::Wait>{{0, Queue::DmaIn, 2}});
}

TEST_CASE("constants in DDR order nobody") {
  Tracker tracker(0x2000);
  std::vector<isa::Instruction> out;
  tracker.append(load(0, 0x1000, 0, 64, 1), out);
  tracker.append(load(1, 0x1000, 0, 64, 2), out);
  CHECK(out[1].waits.empty());
}

// `channels` 16-bit channels from `first` of 8 pixels with 64 channels each.
isa::Instruction slice(uint8_t tile, Queue queue, uint32_t first, uint32_t channels, bool write) {
  isa::Instruction i = at(tile, queue);
  isa::Elementwise e;
  e.dims[3] = 8;
  e.dims[4] = channels;
  isa::Operand pixels = {first * 2, isa::DataType::F16, {0, 0, 0, 128, 2}};
  isa::Operand elsewhere = {
      0x8000 + first * 16, isa::DataType::F16, {0, 0, 0, static_cast<int32_t>(channels * 2), 2}};
  e.dst = write ? pixels : elsewhere;
  e.a = write ? elsewhere : pixels;
  i.body = e;
  return i;
}

// Channels [first, first + channels) of 8 pixels of the own tile to `tiles`, to the same place.
isa::Instruction send(uint8_t tile, uint8_t tiles, uint32_t first, uint32_t channels) {
  isa::Instruction i = at(tile, Queue::DmaOut);
  isa::Dma d;
  d.src_space = d.dst_space = isa::Space::Ocm;
  d.dst_tiles = tiles;
  d.src = d.dst = first * 2;
  d.run_bytes = channels * 2;
  d.dims = {1, 1, 8};
  d.src_strides = d.dst_strides = {0, 0, 128};
  i.body = d;
  return i;
}

TEST_CASE("slices of channels that tiles send each other do not wait for each other") {
  Tracker tracker(0);
  std::vector<isa::Instruction> out;
  tracker.append(send(0, 0b100, 0, 16), out);
  tracker.append(send(1, 0b100, 16, 16), out);
  tracker.append(slice(2, Queue::Pe, 32, 32, true), out);
  CHECK(out[1].waits.empty());
  CHECK(out[2].waits.empty());
  // A reader of some channels waits for those that bring them, and for nobody else.
  tracker.append(slice(2, Queue::Pod, 16, 16, false), out);
  CHECK(out[3].waits == std::vector<isa::Wait>{{1, Queue::DmaOut, 1}});
  tracker.append(slice(2, Queue::Pod, 8, 16, false), out);
  CHECK(out[4].waits == std::vector<isa::Wait>{{0, Queue::DmaOut, 1}});
}

TEST_CASE("slices of channels that overlap do wait") {
  Tracker tracker(0);
  std::vector<isa::Instruction> out;
  tracker.append(send(0, 0b100, 0, 24), out);
  tracker.append(send(1, 0b100, 16, 16), out);
  CHECK(out[1].waits == std::vector<isa::Wait>{{0, Queue::DmaOut, 1}});
  // One channel of a granule is the whole granule.
  tracker.append(send(3, 0b100, 31, 1), out);
  CHECK(out[2].waits == std::vector<isa::Wait>{{1, Queue::DmaOut, 1}});
}

}  // namespace
}  // namespace mrvlc::accel
