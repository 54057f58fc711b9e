// Code on its way into the queues, and what else makes the machine honest: worked out by hand from
// docs/timing.md.
#include <catch2/catch.hpp>

#include "mrvlc/support/diag/sim.h"
#include "program.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

Timing timed(const std::vector<Instruction>& program, const target::Machine& m,
             isa::Encoding encoding = isa::Encoding::Plain) {
  auto r = time_program(program, m, Section::Main, encoding);
  REQUIRE(r.ok());
  return *r;
}

std::vector<uint64_t> starts(const Timing& t) {
  std::vector<uint64_t> out;
  for (const Event& e : t.events) out.push_back(e.start);
  return out;
}

Instruction sync(Queue queue, std::vector<isa::Wait> waits = {}) {
  Instruction i;
  i.queue = queue;
  i.waits = std::move(waits);
  return i;
}

// 100 cycles of work, and 16.
Instruction work() {
  return {0, Queue::Pe, {}, ew(EwOp::Add, 3200, 32768, 0, 16384)};
}

// Of 1024 bytes: an instruction is a piece of 8 cycles.
target::Machine fetching() {
  target::Machine m = machine();
  m.fetch_buffer = 1024;
  return m;
}

}  // namespace

TEST_CASE("code is there a latency after its piece, and the fifth piece waits for room") {
  const std::vector<Instruction> program(5, sync(Queue::Pe));
  const Timing t = timed(program, fetching());
  CHECK(starts(t) == std::vector<uint64_t>{208, 224, 240, 256, 416});
  CHECK(t.cycles == 432);
  CHECK(t.fetched_bytes == 5 * 256);
  CHECK(timed(program, machine()).fetched_bytes == 0);
}

TEST_CASE("compact code of a few bytes is one piece, in whole bursts") {
  const std::vector<Instruction> program(5, sync(Queue::Pe));
  const Timing t = timed(program, fetching(), isa::Encoding::Compact);
  CHECK(starts(t) == std::vector<uint64_t>{204, 220, 236, 252, 268});
  CHECK(t.fetched_bytes == 128);
}

TEST_CASE("cycles that an instruction is not there for are charged to it, and to fetching") {
  const Timing t = timed(std::vector<Instruction>(5, sync(Queue::Pe)), fetching());
  std::vector<InstructionSpan> spans;
  for (uint32_t i = 0; i < 5; ++i) spans.push_back({Section::Main, i, i + 1, i});
  const auto layers = layer_times(t.events, Section::Main, spans);
  using Cycles = std::array<uint64_t, kBounds>;
  CHECK(layers[0].by_bound == Cycles{0, 0, 0, 0, 16, 208});
  CHECK(layers[3].by_bound == Cycles{0, 0, 0, 0, 16, 0});
  CHECK(layers[4].by_bound == Cycles{0, 0, 0, 0, 16, 144});
}

TEST_CASE("a copy waits for code on the channel, and code for copies") {
  // The copy is handed out at 208, when the first four pieces are read, and has the channel for 400 cycles.
  std::vector<Instruction> program = {load_ocm(kInputAt, 0, 12800)};
  program.resize(6, sync(Queue::Pe));
  Timing t = timed(program, fetching());
  CHECK(t.events[0].begin == 216);  // the fifth piece is asked for in the same cycle, and goes first
  CHECK(t.events[0].bound == Bound::Ddr);
  CHECK(t.events[4].start == 208 + 8 + 200);
  CHECK(t.events[5].start == 616 + 8 + 200);  // asked for at 216, behind the copy
  const auto path = critical_path(t.events, Section::Main);
  REQUIRE_FALSE(path.empty());
  uint64_t at = 0;
  for (const PathStep& s : path) {
    CHECK(s.begin == at);
    at = s.end;
  }
  CHECK(at == t.cycles);
}

TEST_CASE("a queue without a place holds up what follows in the program") {
  target::Machine m = machine();
  const std::vector<Instruction> program = {work(), work(), work(), sync(Queue::DmaIn)};
  CHECK(timed(program, m).events[3].start == 0);
  m.queue_depth = 2;
  CHECK(timed(program, m).events[3].start == 0);
  m.queue_depth = 1;
  CHECK(timed(program, m).events[3].start == 116);
}

TEST_CASE("an instruction that waits for one behind a full queue never starts") {
  target::Machine m = machine();
  const std::vector<Instruction> program = {sync(Queue::Pe, {{0, Queue::Pod, 1}}), sync(Queue::Pe),
                                            sync(Queue::Pod)};
  CHECK(time_program(program, m).ok());
  m.queue_depth = 2;
  CHECK(time_program(program, m).ok());
  m.queue_depth = 1;
  auto r = time_program(program, m);
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().code == DiagCode::MRV0705);
  CHECK(r.error().message.find("instruction 0") != std::string::npos);
}

TEST_CASE("other queues see a completion later, the own one does not") {
  target::Machine m = machine();
  m.sync_latency = 30;
  const Timing t = timed({work(), sync(Queue::Pod, {{0, Queue::Pe, 1}}), sync(Queue::Pe, {{0, Queue::Pe, 1}}),
                          sync(Queue::DmaIn, {{0, Queue::Pe, 0}})},
                         m);
  CHECK(starts(t) == std::vector<uint64_t>{0, 146, 116, 0});
}

TEST_CASE("an instruction of the matrix unit fills its chain once") {
  target::Machine m = machine();
  isa::Conv c = conv(14, 14, 64, 32);
  c.w = 200000, c.out = 400000;
  const auto cycles = [&](isa::Conv one) { return timed({{0, Queue::Pod, {}, one}}, m).cycles; };
  isa::Conv depthwise = c, kept = c;
  depthwise.depthwise = true, kept.last = false;
  const uint64_t before[] = {cycles(c), cycles(depthwise), cycles(kept)};
  m.accumulation_fill = 64;
  CHECK(cycles(c) == before[0] + 64);
  CHECK(cycles(depthwise) == before[1] + 64);
  CHECK(cycles(kept) == before[2] + 64);
}

TEST_CASE("a reduction block waits for the sums that it adds to, and pixels are taken together") {
  target::Machine m = machine();
  isa::Conv c =
      conv(14, 14, 64, 32);  // 196 cycles a reduction block, of which there are 4, for 2 x 16 channels
  c.w = 200000, c.out = 400000;
  const auto cycles = [&](isa::Conv one) { return timed({{0, Queue::Pod, {}, one}}, m).cycles; };
  isa::Conv depthwise = c, single = c;
  depthwise.depthwise = true, single.channels = 16;
  const uint64_t before = cycles(c), of_depthwise = cycles(depthwise), of_single = cycles(single);
  m.reduction_gap = 196;
  CHECK(cycles(c) == before);
  m.reduction_gap = 200;
  CHECK(cycles(c) == before + 2 * 3 * 4);
  CHECK(cycles(depthwise) == of_depthwise);
  CHECK(cycles(single) == of_single);
  m.reduction_gap = 0;
  m.pixel_block = 14;
  CHECK(cycles(c) == before);
  m.pixel_block = 16;  // 208 pixels, which drain in 104 cycles instead of 98
  CHECK(cycles(c) == before + 2 * 4 * 12 + 6);
}

TEST_CASE("of DDR there is a share") {
  target::Machine m = machine();
  m.ddr_efficiency = 85;  // 27.2 bytes a cycle
  CHECK(timed({load_ocm(kInputAt, 0, 12800)}, m).cycles == 471 + 216);
  m.fetch_buffer = 1024;
  CHECK(timed({sync(Queue::Pe)}, m).cycles == 10 + 200 + 16);  // 256 bytes
}

TEST_CASE("a section without instructions takes no time, and fetches nothing") {
  const Timing t = timed({}, fetching(), isa::Encoding::Compact);
  CHECK(t.cycles == 0);
  CHECK(t.fetched_bytes == 0);
}

TEST_CASE("a binary is timed in the encoding that it has") {
  isa::Binary b = binary(std::vector<Instruction>(5, sync(Queue::Pe)));
  for (auto [encoding, cycles] : {std::pair(isa::Encoding::Plain, 432u), {isa::Encoding::Compact, 284u}}) {
    b.encoding = encoding;
    auto simulator = Simulator::create(b, fetching());
    REQUIRE(simulator.ok());
    CHECK(simulator->time_only()->main_cycles == cycles);
    CHECK(*simulator->cycles_on(machine()) == 5 * 16);
    CHECK(*simulator->cycles_on(fetching()) == simulator->time_only()->total_cycles());
  }
}
