// Random programs whose waits order every conflict, found by comparing the bytes of all pairs.
#pragma once
#include <map>
#include <random>
#include <tuple>

#include "program.h"
#include "touch.h"

namespace mrvlc::sim {

class RandomProgram {
 public:
  RandomProgram(uint32_t seed, uint8_t tiles) : random_(seed), tiles_(tiles) {}

  std::vector<Instruction> make(size_t n) {
    while (program_.size() < n) {
      Instruction i = instruction();
      if (order(i)) program_.push_back(std::move(i));
    }
    for (uint8_t t = 0; t < tiles_; ++t) dump(t);
    return program_;
  }

 private:
  struct Run {
    Region region;
    uint64_t begin, end;
  };
  using QueueId = std::pair<uint8_t, Queue>;

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  uint32_t place() { return below(64) * 64; }  // of 8 KiB, so that conflicts are many

  Instruction instruction() {
    auto tile = static_cast<uint8_t>(below(tiles_));
    uint32_t n = 1 + below(400);
    switch (below(6)) {
      case 0:
        return load_ocm(kInputAt + place(), place(), n * 2, {}, tile,
                        static_cast<uint8_t>(1 + below((1u << tiles_) - 1)));
      case 1:
        return store_ddr(place(), kScratchAt + place(), n * 2, {}, tile);
      case 2:
        return load_ocm(kScratchAt + place(), place(), n * 2, {}, tile);
      case 3:
        return exchange(tile, n);
      case 4:
        return {tile, Queue::Pe, {}, ew(isa::EwOp::Add, n, place(), place(), place())};
      default:
        return convolution(tile);
    }
  }

  Instruction exchange(uint8_t tile, uint32_t n) {
    isa::Dma d;
    d.src_space = isa::Space::Ocm, d.dst_tiles = static_cast<uint8_t>(1 + below((1u << tiles_) - 1));
    d.src = place(), d.dst = place(), d.run_bytes = n;
    return {tile, Queue::DmaOut, {}, d};
  }

  Instruction convolution(uint8_t tile) {
    isa::Conv c = conv(1 + below(5), 1 + below(5), 1 + below(20), 1 + below(20), 1 + 2 * below(2));
    c.stride_w = 1 + below(3);  // leaves gaps between the columns it reads
    c.out_w = (c.in_w + c.stride_w - 1) / c.stride_w;
    c.x = place(), c.out = place(), c.w = 16384 + place();
    return {tile, Queue::Pod, {}, c};
  }

  // Every tile's first 8 KiB, to where a test sees them.
  void dump(uint8_t tile) {
    Instruction i = store_ddr(0, kOutputAt + uint64_t{tile} * 8192, 8192, {}, tile);
    if (order(i)) return program_.push_back(std::move(i));
    for (uint32_t part = 0; part < 8192; part += 64) {
      i = store_ddr(part, kOutputAt + uint64_t{tile} * 8192 + part, 64, {}, tile);
      if (order(i)) program_.push_back(std::move(i));
    }
  }

  // Adds the waits that `next` needs; false if they are too many.
  bool order(Instruction& next) {
    std::vector<Run> runs;
    each_touched(next, [&](Region r, uint64_t b, uint64_t e) {
      runs.push_back({r, b / isa::kHazardGranule, (e + isa::kHazardGranule - 1) / isa::kHazardGranule});
    });
    std::map<QueueId, uint32_t> last, count;
    for (size_t k = 0; k < program_.size(); ++k) {
      QueueId queue{program_[k].tile, program_[k].queue};
      ++count[queue];
      bool same = queue == QueueId{next.tile, next.queue};
      if (!same && conflict(runs, runs_[k])) last[queue] = count[queue];
    }
    if (last.size() > isa::kMaxWaits) return false;
    for (auto [queue, n] : last) next.waits.push_back({queue.first, queue.second, n});
    runs_.push_back(std::move(runs));
    return true;
  }

  static bool conflict(const std::vector<Run>& a, const std::vector<Run>& b) {
    for (const Run& x : a)
      for (const Run& y : b)
        if ((x.region.write || y.region.write) && x.region.space == y.region.space &&
            (x.region.space == isa::Space::Ddr || x.region.tile == y.region.tile) && x.begin < y.end &&
            y.begin < x.end)
          return true;
    return false;
  }

  std::mt19937 random_;
  uint8_t tiles_;
  std::vector<Instruction> program_;
  std::vector<std::vector<Run>> runs_;  // in granules, by instruction
};

}  // namespace mrvlc::sim
