#include <catch2/catch.hpp>
#include <numeric>

#include "random_program.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

Timing timed(const std::vector<Instruction>& program) {
  auto r = time_program(program, machine());
  REQUIRE(r.ok());
  return *r;
}

// Instruction i is layer i.
std::vector<LayerTime> layers(const std::vector<Instruction>& program) {
  std::vector<InstructionSpan> spans;
  for (uint32_t i = 0; i < program.size(); ++i) spans.push_back({Section::Main, i, i + 1, i});
  return layer_times(timed(program).events, Section::Main, spans);
}

using Cycles = std::array<uint64_t, kBounds>;  // matrix, vector, port, DDR, wait, fetch

isa::Dma to_tile_1(uint32_t bytes) {
  isa::Dma d;
  d.src_space = isa::Space::Ocm, d.dst_tiles = 0b10, d.src = 0, d.dst = 65536, d.run_bytes = bytes;
  return d;
}

}  // namespace

TEST_CASE("one instruction: its own work, then overhead and latency") {
  isa::Conv c = conv(14, 14, 64, 32);
  c.w = 200000, c.out = 400000;
  CHECK(layers({{0, Queue::Pod, {}, c}})[0].by_bound == Cycles{1666, 0, 0, 0, 16});
  CHECK(layers({{0, Queue::Pe, {}, ew(EwOp::Add, 3200, 32768, 0, 16384)}})[0].by_bound ==
        Cycles{0, 100, 0, 0, 16});
  CHECK(layers({load_ocm(kInputAt, 0, 12800)})[0].by_bound == Cycles{0, 0, 0, 400, 216});
  CHECK(layers({{0, Queue::DmaOut, {}, to_tile_1(6400)}})[0].by_bound == Cycles{0, 0, 100, 0, 16});
  CHECK(layers({Instruction{}})[0].by_bound == Cycles{0, 0, 0, 0, 16});
  CHECK(timed({Instruction{}}).events[0].bound == Bound::Wait);
}

TEST_CASE("an engine that its ports hold up is bound by the port") {
  isa::Conv c = conv(1, 1, 1024, 16);  // 512 B of weights and 32 B of input for each block of 4 cycles
  c.w = 200000, c.out = 400000;
  auto l = layers({{0, Queue::Pod, {}, c}});
  CHECK(l[0].by_bound == Cycles{0, 0, 272, 0, 16});
  CHECK(l[0].bound() == Bound::Port);
  isa::Elementwise wide = ew(EwOp::Add, 3200, 65536, 0, 16384);
  wide.a.type = wide.b.type = isa::DataType::F32;
  wide.a.strides[4] = wide.b.strides[4] = 4;
  CHECK(layers({{0, Queue::Pe, {}, wide}})[0].by_bound == Cycles{0, 0, 200, 0, 16});
}

TEST_CASE("time lost to the DDR channel is charged to the copies that had it") {
  auto l = layers({load_ocm(kInputAt, 0, 12800, {}, 0), load_ocm(kInputAt, 0, 6400, {}, 1)});
  CHECK(l[0].by_bound == Cycles{0, 0, 0, 400, 0});
  CHECK(l[1].by_bound == Cycles{0, 0, 0, 200, 216});
  // The second of one queue starts when the bytes of the first have left, not when it is complete.
  l = layers({load_ocm(kInputAt, 0, 12800), load_ocm(kInputAt, 16384, 12800)});
  CHECK(l[0].by_bound == Cycles{0, 0, 0, 400, 0});
  CHECK(l[1].by_bound == Cycles{0, 0, 0, 400, 216});
}

TEST_CASE("a dependency is charged to what is waited for, hidden work to nobody") {
  auto l = layers({load_ocm(kInputAt, 0, 12800),
                   {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, ew(EwOp::Neg, 3200, 32768, 0)},
                   {0, Queue::Pod, {}, conv(4, 4, 16, 16)}});
  CHECK(l[0].by_bound == Cycles{0, 0, 0, 400, 216});
  CHECK(l[0].bound() == Bound::Ddr);
  CHECK(l[1].by_bound == Cycles{0, 100, 0, 0, 16});
  CHECK(l[2].cycles == 0);
  CHECK(l[2].bound() == Bound::Wait);
  CHECK(l[2].busy[static_cast<size_t>(Queue::Pod)] == 40);  // 16 cycles, 8 of draining, overhead
  CHECK(l[0].busy[static_cast<size_t>(Queue::DmaIn)] == 400);
  CHECK(l[1].first_start == 616);
  CHECK(l[1].last_end == 732);
  CHECK(l[1].tiles == 1);
}

TEST_CASE("what waits for the channel is charged to DDR, whatever slows the copy that has it") {
  // The addition has taken the tile's read port when the store begins; the load gets the channel 400 cycles
  // later.
  const std::vector<isa::Wait> first = {{0, Queue::DmaIn, 1}};
  auto l = layers({{0, Queue::Pe, {}, ew(EwOp::Add, 32000, 800000, 0, 64000)},
                   load_ocm(kInputAt, 300000, 64),
                   store_ddr(128000, kOutputAt, 12800, first),
                   load_ocm(kInputAt, 0, 64000, first, 1)});
  CHECK(l[0].cycles == 0);
  CHECK(l[1].by_bound == Cycles{0, 0, 0, 4, 216});
  CHECK(l[2].by_bound == Cycles{0, 0, 0, 400, 0});
  CHECK(l[3].by_bound == Cycles{0, 0, 0, 2000, 216});
}

TEST_CASE("a completion held up by the one before is charged to that one") {
  auto l = layers({store_ddr(0, kOutputAt, 128),
                   {0, Queue::DmaOut, {}, to_tile_1(64)},
                   {1, Queue::Pe, {{0, Queue::DmaOut, 2}}, ew(EwOp::Neg, 3200, 32768, 65536)}});
  CHECK(l[0].by_bound == Cycles{0, 0, 0, 4, 216});
  CHECK(l[1].cycles == 0);
  CHECK(l[2].by_bound == Cycles{0, 100, 0, 0, 16});
}

TEST_CASE("layers add up to the section, the path covers it without gaps") {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    auto tiles = static_cast<uint8_t>(1 << seed % 4);
    auto program = RandomProgram(seed, tiles).make(200);
    Timing t = timed(program);
    std::vector<InstructionSpan> spans;
    for (uint32_t i = 0; i + 3 < program.size(); i += 7)
      spans.push_back({Section::Main, i, i + 6, i % 5});  // some in no layer, layers in several pieces
    auto times = layer_times(t.events, Section::Main, spans);
    INFO("seed " << seed);
    REQUIRE(times.size() == 6);
    CHECK(times.back().layer == kNoLayer);
    uint64_t cycles = 0, instructions = 0, kinds = 0;
    for (const LayerTime& l : times) {
      uint64_t sum = std::accumulate(l.by_bound.begin(), l.by_bound.end(), uint64_t{0});
      CHECK(sum == l.cycles);
      cycles += l.cycles;
      instructions += l.instructions;
      for (uint64_t busy : l.busy) CHECK(busy <= t.cycles * tiles);
    }
    CHECK(cycles == t.cycles);
    CHECK(instructions == program.size());
    uint64_t at = 0;
    for (const PathStep& s : critical_path(t.events, Section::Main)) {
      CHECK(s.begin == at);
      CHECK(s.end > s.begin);
      const Event& e = t.events[s.instruction];
      CHECK(s.begin >= e.begin);
      CHECK(s.end <= e.end);
      CHECK((s.bound == Bound::Wait || s.end <= e.moved));
      kinds |= uint64_t{1} << static_cast<unsigned>(s.bound);
      at = s.end;
    }
    CHECK(at == t.cycles);
    CHECK((kinds >> static_cast<unsigned>(Bound::Ddr) & 1) == 1);
  }
}

TEST_CASE("times of an event are in order") {
  auto program = RandomProgram(7, 4).make(300);
  Timing t = timed(program);
  uint64_t before = 0;
  for (uint32_t i : t.issued) {
    const Event& e = t.events[i];
    CHECK(e.instruction == i);
    CHECK(e.ready <= e.start);
    CHECK(e.start <= e.begin);
    CHECK(e.begin <= e.channel);
    CHECK(e.channel <= e.moved);
    CHECK(e.moved <= e.end);
    CHECK(e.start >= before);
    before = e.start;
    CHECK((e.begin == 0 || e.cause < program.size()));
  }
}

TEST_CASE("spans that no instruction answers to change nothing") {
  std::vector<InstructionSpan> spans = {{Section::Main, 0, 1, 3},
                                        {Section::Main, 1, 0xffffffffu, 9},
                                        {Section::Main, 5, 2, 4},
                                        {Section::Init, 0, 1, 1}};
  Timing t = timed({load_ocm(kInputAt, 0, 12800), load_ocm(kInputAt, 16384, 12800)});
  auto times = layer_times(t.events, Section::Main, spans);
  REQUIRE(times.size() == 3);
  CHECK(times[0].layer == 3);
  CHECK(times[0].cycles == 400);
  CHECK(times[1].layer == 4);
  CHECK(times[1].instructions == 0);
  CHECK(times[2].cycles == 616);
  CHECK(layer_times(t.events, Section::Finish, spans).empty());
  CHECK(critical_path({}, Section::Main).empty());
}

TEST_CASE("a report's events say the same as the program's") {
  isa::Binary b = binary(RandomProgram(3, 2).make(120), 2);
  b.init = {load_ocm(kInputAt, 0, 4096)};
  auto report = Simulator::create(b, machine())->time_only();
  REQUIRE(report.ok());
  std::vector<InstructionSpan> spans = {
      {Section::Main, 0, 60, 0}, {Section::Main, 60, 1000, 1}, {Section::Init, 0, 1, 0}};
  auto from_report = layer_times(report->events, Section::Main, spans);
  auto from_program = layer_times(timed(b.main).events, Section::Main, spans);
  REQUIRE(from_report.size() == from_program.size());
  for (size_t i = 0; i < from_report.size(); ++i) CHECK(from_report[i].by_bound == from_program[i].by_bound);
  CHECK(from_report[0].cycles + from_report[1].cycles == report->main_cycles);
  CHECK(layer_times(report->events, Section::Init, spans)[0].cycles == report->init_cycles);
}
