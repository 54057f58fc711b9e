#include "code/tracker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

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

// `bytes` at `ddr` and in `rows` rows after it, to DDR or from there.
isa::Instruction column(uint8_t tile, bool write, uint64_t ddr, uint32_t bytes, uint32_t rows,
                        int64_t stride) {
  isa::Instruction i = at(tile, write ? Queue::DmaOut : Queue::DmaIn);
  isa::Dma d;
  d.src_space = write ? isa::Space::Ocm : isa::Space::Ddr;
  d.dst_space = write ? isa::Space::Ddr : isa::Space::Ocm;
  d.dst_tiles = static_cast<uint8_t>(write ? 0u : 1u << tile);
  (write ? d.dst : d.src) = ddr;
  d.run_bytes = bytes;
  d.dims = {1, 1, rows};
  (write ? d.dst_strides : d.src_strides) = {0, 0, stride};
  (write ? d.src_strides : d.dst_strides) = {0, 0, static_cast<int64_t>(bytes)};
  i.body = d;
  return i;
}

TEST_CASE("of the columns of a large tensor a reader waits for those that it reads") {
  constexpr int64_t kRow = 8192;  // 64 MiB in all
  Tracker tracker(0, uint64_t{1} << 28);
  std::vector<isa::Instruction> out;
  for (uint32_t c = 0; c < 64; ++c)
    tracker.append(column(static_cast<uint8_t>(c % 4), true, c * 128, 128, 8192, kRow), out);
  for (size_t c = 0; c < 64; ++c) CHECK(out[c].waits.empty());
  tracker.append(column(5, false, 37 * 128, 128, 8192, kRow), out);
  CHECK(out[64].waits == std::vector<isa::Wait>{{1, Queue::DmaOut, 10}});
  tracker.append(column(6, false, 5000 * kRow + 2 * 128, 64, 1, 0), out);  // of one row
  CHECK(out[65].waits == std::vector<isa::Wait>{{2, Queue::DmaOut, 1}});
  tracker.append(column(7, true, 5000 * kRow + 37 * 128, 64, 1, 0), out);
  CHECK(out[66].waits == std::vector<isa::Wait>{{5, Queue::DmaIn, 1}});  // which has waited for the writer
}

// What instruction i touches in DDR, run by run.
struct Runs {
  bool write = false;
  std::vector<uint64_t> begins;
  uint64_t bytes = 0;
};

bool share_a_byte(const Runs& a, const Runs& b) {
  if (!a.write && !b.write) return false;
  for (uint64_t begin : a.begins) {
    auto after = std::ranges::upper_bound(b.begins, begin);
    if (after != b.begins.end() && *after < begin + a.bytes) return true;
    if (after != b.begins.begin() && *(after - 1) + b.bytes > begin) return true;
  }
  return false;
}

// Which earlier instructions have completed when one begins, from the waits alone.
std::vector<std::vector<bool>> completed_before(const std::vector<isa::Instruction>& program) {
  std::map<std::pair<int, Queue>, std::vector<size_t>> queues;
  std::vector<std::vector<bool>> before;
  for (size_t i = 0; i < program.size(); ++i) {
    std::vector<bool>& mine = before.emplace_back(program.size());
    auto take = [&](size_t other) {
      mine[other] = true;
      for (size_t k = 0; k < other; ++k) mine[k] = mine[k] || before[other][k];
    };
    auto& queue = queues[{program[i].tile, program[i].queue}];
    if (!queue.empty()) take(queue.back());
    for (const isa::Wait& w : program[i].waits) take(queues[{w.tile, w.queue}].at(w.count - 1));
    queue.push_back(i);
  }
  return before;
}

// Instructions one by one, each a column from or to DDR, and what each touches there.
class Columns {
 public:
  explicit Columns(uint32_t seed) : random_(seed), tracker_(0, uint64_t{1} << 28) {}

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void add(bool write, uint64_t begin, uint64_t bytes, uint32_t rows, uint64_t stride) {
    Runs r{write, {}, bytes};
    for (uint32_t row = 0; row < rows; ++row) r.begins.push_back(begin + uint64_t{row} * stride);
    const size_t before = out_.size();
    tracker_.append(column(static_cast<uint8_t>(below(8)), write, begin, static_cast<uint32_t>(bytes), rows,
                           static_cast<int64_t>(stride)),
                    out_);
    touched_.resize(out_.size() - 1);  // Syncs touch nothing
    touched_.push_back(std::move(r));
    CHECK(out_.size() > before);
  }

  // Pairs that share a byte, each of which must be in order.
  int check() const {
    const auto completed = completed_before(out_);
    int shared = 0;
    for (size_t i = 0; i < out_.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (!share_a_byte(touched_[k], touched_[i])) continue;
        ++shared;
        if (!completed[i][k]) FAIL(i << " does not wait for " << k);
      }
    }
    return shared;
  }

 private:
  std::mt19937 random_;
  Tracker tracker_;
  std::vector<isa::Instruction> out_;
  std::vector<Runs> touched_;
};

TEST_CASE("whatever shares a byte is in order, wherever it lies") {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    Columns c(seed);
    for (int n = 0; n < 700; ++n) {
      // Most share one stride, so that they are told apart by their columns; some lie across.
      const uint32_t stride = c.below(8) != 0 ? 4096 : 1024 * (1 + c.below(24)), rows = 1u << c.below(11);
      const uint64_t begin = 16 * c.below(4096 / 16) + uint64_t{4096} * c.below(c.below(2) != 0 ? 2048 : 16);
      c.add(c.below(3) != 0, begin, 16 * (1 + c.below(c.below(4) != 0 ? 8 : 64)), rows, stride);
    }
    CHECK(c.check() > 1000);
  }
}

TEST_CASE("what was written long ago is waited for") {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    Columns c(seed);
    // Small pieces of one stretch of memory, more than are kept one by one; then readers alone, then writers
    // alone.
    for (int n = 0; n < 300; ++n) c.add(c.below(8) != 0, 32 * c.below(1024), 64, 1 + c.below(2), 128);
    for (int n = 0; n < 150; ++n) c.add(false, 32 * c.below(1024), 64, 1, 0);
    for (int n = 0; n < 150; ++n) c.add(true, 32 * c.below(1024), 64, 1, 0);
    CHECK(c.check() > 200);
  }
}

}  // namespace
}  // namespace mrvlc::accel
