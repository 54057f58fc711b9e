#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "mrvlc/cost/cost.h"
#include "program.h"
#include "timeline.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

Report timed(std::vector<Instruction> program, uint8_t tiles = 1) {
  auto sim = Simulator::create(binary(std::move(program), tiles), machine());
  REQUIRE(sim.ok());
  auto r = sim->time_only();
  REQUIRE(r.ok());
  return *r;
}

Instruction pod(isa::Conv c, std::vector<isa::Wait> waits = {}, uint8_t tile = 0) {
  return {tile, Queue::Pod, std::move(waits), c};
}

uint64_t ceil_div(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

TEST_CASE("a convolution takes blocks times pixels, overhead and the last drain") {
  // 196 pixels, 64 channels = 4 reduction blocks, 32 output channels = 2 blocks; drain 98 a block.
  isa::Conv c = conv(14, 14, 64, 32);
  c.w = 200000, c.out = 400000;
  CHECK(timed({pod(c)}).main_cycles == 16 + 2 * 4 * 196 + 98);
  // Not hidden: more than half of the accumulators.
  c = conv(32, 32, 64, 32);
  c.w = 200000, c.out = 400000;
  CHECK(timed({pod(c)}).main_cycles == 16 + 2 * (4 * 1024 + 512));
  // Matrix-vector: the read port serves 512 B of weights and 32 B of input for each block.
  c = conv(1, 1, 1024, 16);
  c.w = 200000, c.out = 400000;
  CHECK(timed({pod(c)}).main_cycles == 16 + ceil_div(64 * 544, 128));
  // Weights that are not packed are loaded row by row.
  c.w_k = 2, c.w_n = 2048;
  CHECK(timed({pod(c)}).main_cycles == 16 + 64 * 16 + 1);
}

TEST_CASE("a kernel row is one run of memory when its pixels are adjacent") {
  isa::Conv c = conv(16, 16, 3, 16, 7);
  c.w = 200000, c.out = 400000;
  CHECK(timed({pod(c)}).main_cycles == 16 + 7 * 2 * 256 + 128);
  c.x_col = 8, c.x_row = 128;  // one gap after each pixel
  CHECK(timed({pod(c)}).main_cycles == 16 + 7 * 7 * 256 + 128);
}

TEST_CASE("depthwise has its own rate") {
  isa::Conv c = conv(14, 14, 1, 32, 3);
  c.depthwise = true;
  c.x_col = 64, c.x_row = 14 * 64, c.w_k = 64;
  c.w = 200000, c.out = 400000;
  CHECK(timed({pod(c)}).main_cycles == 16 + 2 * 196 * 16 * 9 / 64 + 98);
}

TEST_CASE("the vector unit: lanes, slow operations, reductions") {
  auto pe = [](isa::Elementwise e) { return timed({{0, Queue::Pe, {}, e}}).main_cycles; };
  CHECK(pe(ew(EwOp::Add, 3200, 32768, 0, 16384)) == 16 + 100);
  CHECK(pe(ew(EwOp::Div, 3200, 32768, 0, 16384)) == 16 + 400);
  isa::Elementwise wide = ew(EwOp::Add, 3200, 65536, 0, 16384);
  wide.a.type = wide.b.type = isa::DataType::F32;
  wide.a.strides[4] = wide.b.strides[4] = 4;
  CHECK(pe(wide) == 16 + 200);  // 8 B an element through the read port
  isa::Reduce r;
  r.dims[4] = 3200, r.a = row(0), r.dst = {32768, isa::DataType::F16, {}};
  CHECK(timed({{0, Queue::Pe, {}, r}}).main_cycles == 16 + 100);
}

TEST_CASE("DDR: rate, bursts, latency, pipelined copies") {
  CHECK(timed({load_ocm(kInputAt, 0, 12800)}).main_cycles == 400 + 16 + 200);
  auto r = timed({load_ocm(kInputAt, 0, 12800), load_ocm(kInputAt, 16384, 12800)});
  CHECK(r.main_cycles == 800 + 16 + 200);  // the second copy moves while the first one's latency passes
  CHECK(r.events[1].start == 400);
  CHECK(r.ddr_read_bytes == 25600);
  isa::Dma d;
  d.dst_tiles = 1, d.src = kInputAt, d.run_bytes = 32, d.dims = {1, 1, 100}, d.src_strides = {0, 0, 64},
  d.dst_strides = {0, 0, 32};
  r = timed({{0, Queue::DmaIn, {}, d}});
  CHECK(r.ddr_read_bytes == 100 * 128);
  d.src_strides = {0, 0, 32};  // adjacent: one run
  CHECK(timed({{0, Queue::DmaIn, {}, d}}).ddr_read_bytes == 25 * 128);
}

TEST_CASE("DDR is shared by the tiles, a multicast is read once") {
  std::vector<Instruction> p;
  for (uint8_t t = 0; t < 8; ++t) p.push_back(load_ocm(kInputAt, 0, 12800, {}, t));
  CHECK(timed(p, 8).main_cycles == 8 * 400 + 216);
  CHECK(timed({load_ocm(kInputAt, 0, 12800, {}, 0, 0xff)}, 8).main_cycles == 400 + 216);
  // Equal start times: by tile.
  auto r = timed(p, 8);
  for (uint8_t t = 0; t < 8; ++t) CHECK(r.events[t].end == (t + 1u) * 400 + 216);
}

TEST_CASE("tiles exchange at the rate of the link into each") {
  isa::Dma d;
  d.src_space = isa::Space::Ocm, d.dst_tiles = 0b10, d.src = 0, d.dst = 65536, d.run_bytes = 6400;
  CHECK(timed({{0, Queue::DmaOut, {}, d}}, 2).main_cycles == 100 + 16);
  // Two senders into one tile share its link.
  auto r = timed({{0, Queue::DmaOut, {}, d}, {2, Queue::DmaOut, {}, d}}, 4);
  CHECK(r.main_cycles == 200 + 16);
}

TEST_CASE("waits, counts and queues decide the start") {
  auto r = timed({load_ocm(kInputAt, 0, 12800),
                  {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, ew(EwOp::Neg, 3200, 32768, 0)},
                  {0, Queue::Pe, {}, ew(EwOp::Neg, 3200, 49152, 0)}});
  CHECK(r.events[1].start == 616);
  CHECK(r.events[1].ready == 0);
  CHECK(r.events[1].end == 732);
  CHECK(r.events[2].start == 732);
  CHECK(r.events[2].ready == 732);
  CHECK(r.main_cycles == 848);
}

TEST_CASE("a shared path never carries more than its rate and is free again afterwards") {
  cost::Timeline t(64);
  CHECK(t.reserve(0, 0, 3200, 100) == 100);  // 32 a cycle
  CHECK(t.reserve(0, 0, 6400, 100) == 150);  // 32 left until 100, then 64
  CHECK(t.reserve(10, 10, 64, 1) == 151);    // nothing left until 150
  CHECK(t.reserve(10, 500, 64, 1) == 501);
  CHECK(t.reserve(600, 600, 640, 1) == 610);
  CHECK(t.reserve(600, 600, 0, 5) == 600);
  std::mt19937 r(5);
  cost::Timeline u(128);
  uint64_t now = 1000, sum = 0, last = 0;
  for (int i = 0; i < 20000; ++i) {
    uint64_t bytes = r() % 5000, cycles = 1 + r() % 60;
    now += r() % 20;
    uint64_t end = u.reserve(now, now + r() % 30, bytes, cycles);
    sum += bytes;
    last = std::max(last, end);
    REQUIRE(end + 1 >= now + bytes / 128);
  }
  CHECK((last - 1000) * 128 + 128 >= sum);
  CHECK((last - 1000) * 128 <= sum + sum / 50);  // saturated, so hardly anything is lost
}

TEST_CASE("no program beats the rates of the machine") {
  std::mt19937 r(11);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(r() % n); };
  const auto m = machine();
  for (int n = 0; n < 40; ++n) {
    std::vector<Instruction> p;
    uint64_t macs[4] = {}, reads[4] = {}, writes[4] = {}, links[4] = {}, ddr = 0;
    for (int i = 0; i < 60; ++i) {
      auto tile = static_cast<uint8_t>(below(4));
      isa::Conv c = conv(1 + below(14), 1 + below(14), 1 + below(96), 1 + below(64), 1 + 2 * below(2));
      c.w = 200000, c.out = 600000;
      isa::Dma d;
      d.src_space = isa::Space::Ocm, d.dst_tiles = static_cast<uint8_t>(1 + below(15)),
      d.run_bytes = 1 + below(20000);
      d.dst = 300000;
      switch (below(5)) {
        case 0:
          p.push_back(pod(c, {}, tile));
          break;
        case 1:
          p.push_back({tile, Queue::Pe, {}, ew(EwOp::Add, 1 + below(20000), 900000, 0, 100000)});
          break;
        case 2:
          p.push_back({tile, Queue::DmaOut, {}, d});
          break;
        case 3:
          p.push_back(store_ddr(0, kOutputAt, 1 + below(20000), {}, tile));
          break;
        default:
          p.push_back(load_ocm(kInputAt, 0, 1 + below(20000), {}, tile, static_cast<uint8_t>(1 + below(15))));
      }
      cost::Cost cost = cost::cost_of(p.back(), m);
      macs[tile] += cost.macs;
      reads[tile] += cost.read_bytes;
      ddr += cost.ddr_read_bytes + cost.ddr_write_bytes;
      for (unsigned t = 0; t < 4; ++t)
        if ((cost.link_tiles >> t & 1) != 0) links[t] += cost.write_bytes, writes[t] += cost.write_bytes;
      if (cost.link_tiles == 0) writes[tile] += cost.write_bytes;
    }
    Report report = timed(p, 4);
    uint64_t cycles = report.main_cycles;
    for (size_t t = 0; t < 4; ++t) {
      CHECK(cycles >= ceil_div(macs[t], m.fp16_macs));
      CHECK(cycles >= ceil_div(reads[t], m.ocm_read_bytes));
      CHECK(cycles >= ceil_div(writes[t], m.ocm_write_bytes));
      CHECK(cycles >= ceil_div(links[t], m.tile_link_bytes));
    }
    CHECK(cycles >= ceil_div(ddr, m.ddr_bytes));
    CHECK(report.ddr_read_bytes + report.ddr_write_bytes == ddr);
    CHECK(report.pod_busy <= 1.0);
    CHECK(timed(p, 4).main_cycles == cycles);
  }
}

TEST_CASE("engines of one tile share its read port") {
  // Each add wants 128 B a cycle; the matrix unit wants 42 B: together they take at least what the port
  // needs.
  isa::Conv c = conv(7, 7, 512, 64);
  c.w = 200000, c.out = 600000;
  auto add = ew(EwOp::Add, 32000, 800000, 0, 64000);
  uint64_t alone = timed({{0, Queue::Pe, {}, add}}).main_cycles;
  auto r = timed({pod(c), {0, Queue::Pe, {}, add}});
  CHECK(alone == 16 + 1000);
  CHECK(r.events[1].end > alone + 300);
  CHECK(r.events[0].end == timed({pod(c)}).main_cycles);
}

TEST_CASE("timing does not depend on data, and the sections add up") {
  isa::Binary b = binary({load_ocm(kInputAt, 0, 2048), pod(conv(4, 4, 16, 16), {{0, Queue::DmaIn, 1}})});
  b.init = {load_ocm(0, 0, 4096)};
  b.finish = {Instruction{}};
  Report x, y;
  run(b, std::string(2048, '\0'), &x);
  run(b, std::string(2048, 'x'), &y);
  CHECK(x.main_cycles == y.main_cycles);
  CHECK(x.init_cycles == 128 + 216);
  CHECK(x.finish_cycles == 16);
  CHECK(x.total_cycles() == x.init_cycles + x.main_cycles + x.finish_cycles);
  CHECK(x.events.size() == 4);
  CHECK(Simulator::create(b, machine())->time_only()->total_cycles() == x.total_cycles());
}

TEST_CASE("speed of a whole simulation", "[.speed]") {
  std::vector<Instruction> p;
  uint32_t count[8] = {};
  for (unsigned i = 0; i < 19200; ++i) {  // 3.85 G multiply-adds in small pieces, eight tiles
    auto tile = static_cast<uint8_t>(i % 8);
    uint32_t n = count[tile]++, buffer = 500000 + n % 2 * 65536;
    std::vector<isa::Wait> waits;
    if (n >= 2) waits.push_back({tile, Queue::Pod, n - 1});
    p.push_back(load_ocm(kInputAt, buffer, 16384, waits, tile));
    isa::Conv c = conv(7, 7, 512, 8);
    c.out_channels = 8, c.w_block = 0, c.w = buffer, c.out = 700000;
    p.push_back(pod(c, {{tile, Queue::DmaIn, n + 1}}, tile));
  }
  Report report;
  auto begin = std::chrono::steady_clock::now();
  run(binary(p, 8), "", &report);
  std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  begin = std::chrono::steady_clock::now();
  timed(p, 8);
  std::chrono::duration<double> time_only = std::chrono::steady_clock::now() - begin;
  WARN(report.macs << " MACs, " << p.size() << " instructions: " << all.count() << " s, time only "
                   << time_only.count() << " s, hazards " << report.hazards.size());
}
