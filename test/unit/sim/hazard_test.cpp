#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "program.h"
#include "touch.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

std::vector<Hazard> hazards(std::vector<Instruction> program, uint8_t tiles = 2) {
  Report report;
  run(binary(std::move(program), tiles), "", &report);
  CHECK(report.total_cycles() > 0);
  return report.hazards;
}

Instruction pe(isa::Elementwise e, std::vector<isa::Wait> waits = {}, uint8_t tile = 0) {
  return {tile, Queue::Pe, std::move(waits), e};
}

// Whether a run of the access reaches into the granule at g.
bool holds_granule(const isa::Access& a, uint64_t g) {
  if (g >= a.end || g + 16 <= a.begin) return false;
  if (a.stride == 0 || g <= a.begin) return true;
  uint64_t in_stride = (g - a.begin) % a.stride;
  return in_stride < a.run || in_stride + 16 > a.stride;
}

}  // namespace

TEST_CASE("removing any wait of a correct pipeline is found") {
  std::vector<Instruction> good = {
      load_ocm(kInputAt, 0, 2048),
      pe(ew(EwOp::Neg, 1024, 4096, 0), {{0, Queue::DmaIn, 1}}),
      load_ocm(kInputAt, 0, 2048, {{0, Queue::Pe, 1}}),  // over what the PE reads
      store_ddr(4096, kOutputAt, 2048, {{0, Queue::Pe, 1}}),
      pe(ew(EwOp::Abs, 1024, 4096, 0),
         {{0, Queue::DmaIn, 2}, {0, Queue::DmaOut, 1}}),  // over what the DMA reads
      store_ddr(4096, kScratchAt, 2048, {{0, Queue::Pe, 2}}),
      load_ocm(kScratchAt, 8192, 2048, {{0, Queue::DmaOut, 2}}),
  };
  CHECK(hazards(good).empty());
  size_t removed = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (size_t w = 0; w < good[i].waits.size(); ++w) {
      auto bad = good;
      bad[i].waits.erase(bad[i].waits.begin() + static_cast<std::ptrdiff_t>(w));
      auto found = hazards(bad);
      INFO("instruction " << i << " wait " << w);
      REQUIRE_FALSE(found.empty());
      CHECK((found[0].first == i || found[0].second == i));
      ++removed;
    }
  CHECK(removed == 7);
}

TEST_CASE("a window is read to its last channel") {
  isa::Pool p;
  p.in_h = p.in_w = p.out_h = p.out_w = 2;
  p.kernel_h = p.kernel_w = 1;
  p.channels = 9;  // of two granules the second holds one
  p.x_col = p.out_col = 32, p.x_row = p.out_row = 64;
  p.out = 4096;
  const Instruction pool{0, Queue::Pe, {}, p};
  CHECK(hazards({pool, load_ocm(kInputAt, 3 * 32 + 16, 2)}).size() == 1);
  CHECK(hazards({pool, load_ocm(kInputAt, 4 * 32, 2)}).empty());
}

TEST_CASE("a hazard names memory, bytes and instructions") {
  auto h = hazards({load_ocm(kInputAt, 64, 64), pe(ew(EwOp::Copy, 16, 4096, 80))});
  REQUIRE(h.size() == 1);
  CHECK(h[0].first == 0);
  CHECK(h[0].second == 1);
  CHECK(h[0].what == "read of OCM tile 0 [0x50, 0x70) before instruction 0 has written it");
}

TEST_CASE("a reader overtaken by a later writer is found when the reader starts") {
  // In program order 1 reads what 0 wrote and 2 overwrites it; in time 2 comes long before 1.
  auto h = hazards({pe(ew(EwOp::Fill, 8, 0, 0)),
                    store_ddr(0, kOutputAt, 16, {{0, Queue::DmaIn, 1}, {0, Queue::Pe, 1}}),
                    pe(ew(EwOp::Fill, 8, 0, 0)), load_ocm(kInputAt, 4096, 4096)});
  REQUIRE(h.size() == 1);
  CHECK(h[0].what == "read of OCM tile 0 [0x0, 0x10) after instruction 2 has written it");
}

TEST_CASE("an earlier writer that executes later is found") {
  auto h = hazards({pe(ew(EwOp::Fill, 8, 0, 0), {{0, Queue::DmaIn, 1}}), store_ddr(0, kOutputAt, 16),
                    load_ocm(kInputAt, 4096, 4096)});
  REQUIRE(h.size() == 1);
  CHECK(h[0].what == "write to OCM tile 0 [0x0, 0x10) after instruction 1 has read it");
  h = hazards({pe(ew(EwOp::Fill, 8, 0, 0), {{1, Queue::DmaIn, 1}}), load_ocm(kInputAt, 0, 16),
               load_ocm(kInputAt, 4096, 4096, {}, 1)});
  REQUIRE(h.size() == 1);
  CHECK(h[0].what == "write to OCM tile 0 [0x0, 0x10) after instruction 1 has written it");
}

TEST_CASE("neighbouring granules, gaps of a stride and the own queue are no hazards") {
  CHECK(hazards({load_ocm(kInputAt, 0, 64), pe(ew(EwOp::Fill, 16, 64, 0))}).empty());
  CHECK(hazards({load_ocm(kInputAt, 0, 65), pe(ew(EwOp::Fill, 16, 64, 0))}).size() == 1);
  isa::Dma slices;  // 16 bytes every 32
  slices.dst_tiles = 1, slices.src = kInputAt, slices.run_bytes = 16, slices.dims = {1, 1, 100};
  slices.src_strides = {0, 0, 16}, slices.dst_strides = {0, 0, 32};
  isa::Elementwise others = ew(EwOp::Fill, 8, 16, 0);
  others.dims = {1, 1, 1, 100, 8};
  others.dst.strides = {0, 0, 0, 32, 2};
  CHECK(hazards({{0, Queue::DmaIn, {}, slices}, pe(others)}).empty());
  others.dst.address = 14;
  CHECK(hazards({{0, Queue::DmaIn, {}, slices}, pe(others)}).size() == 1);
  CHECK(hazards({load_ocm(kInputAt, 0, 64), load_ocm(kInputAt, 0, 64)}).empty());
  CHECK(hazards({pe(ew(EwOp::Fill, 16, 0, 0)), pe(ew(EwOp::Fill, 16, 0, 0), {}, 1)}).empty());
}

TEST_CASE("a copy into another tile is ordered with that tile's engines") {
  isa::Dma across;
  across.src_space = isa::Space::Ocm, across.dst_tiles = 0b10, across.src = 0, across.dst = 0,
  across.run_bytes = 512;
  Instruction send{0, Queue::DmaOut, {{0, Queue::Pe, 1}}, across};
  auto fill = pe(ew(EwOp::Fill, 256, 0, 0));
  CHECK(hazards({fill, send, pe(ew(EwOp::Neg, 256, 4096, 0), {{0, Queue::DmaOut, 1}}, 1)}).empty());
  CHECK(hazards({fill, send, pe(ew(EwOp::Neg, 256, 4096, 0), {{0, Queue::Pe, 1}}, 1)}).size() == 1);
}

TEST_CASE("at most sixteen hazards are kept") {
  std::vector<Instruction> p;
  for (uint32_t i = 0; i < 40; ++i) p.push_back(load_ocm(kInputAt, 0, 4096));
  for (uint32_t i = 0; i < 40; ++i) p.push_back(pe(ew(EwOp::Neg, 2048, 8192, 0)));
  CHECK(hazards(p).size() == 16);
}

TEST_CASE("exact runs lie within the hulls and agree with them where nothing is left out") {
  std::mt19937 r(3);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(r() % n); };
  for (int n = 0; n < 300; ++n) {
    isa::Conv c = conv(1 + below(9), 1 + below(9), 1 + below(20), 1 + below(40), 1 + below(4));
    c.stride_h = 1 + below(3), c.stride_w = 1 + below(3), c.dilation_w = 1 + below(2);
    c.out_h = 1 + below(5), c.out_w = 1 + below(5);
    c.out_row = c.out_w * c.out_col;
    c.w = 100000, c.out = 500000, c.x = 4096;
    Instruction i{0, Queue::Pod, {}, c};
    uint64_t exact[2] = {0, 0}, hull[2] = {0, 0}, runs = 0;
    auto hulls = isa::accesses(i);
    for (const auto& a : hulls) {
      uint64_t count = a.stride == 0 ? 1 : (a.end - a.begin - a.run) / a.stride + 1;
      hull[a.write] += count * a.run;
      runs += count;
    }
    each_touched(i, [&](Region region, uint64_t begin, uint64_t end) {
      exact[region.write] += end - begin;
      for (uint64_t g = begin / 16 * 16; g < end; g += 16)
        REQUIRE(std::any_of(hulls.begin(), hulls.end(), [&](const isa::Access& a) {
          return a.write == region.write && holds_granule(a, g);
        }));
    });
    CHECK(exact[1] == hull[1]);
    CHECK(exact[0] <= hull[0] + runs * 15);  // gaps too small for a granule count as touched
  }
}
