#include <catch2/catch.hpp>

#include "cn10ka.h"
#include "output/code_index.h"

using namespace mrvlc;

namespace {

idmap::Map map_of_two_layers() {
  idmap::Map map;
  map.sources = {{.id = "main/0", .name = "conv", .op_type = "Conv", .outputs = {"x"}},
                 {.id = "main/1", .name = "pool", .op_type = "MaxPool", .outputs = {"y"}}};
  map.expressions = {{.expr_id = 0, .sources = {"main/0"}}, {.expr_id = 1, .sources = {"main/1"}}};
  map.layers = {{0, 4, "r", "conv", {0}}, {1, 4, "r", "conv", {1}}};
  map.instructions = {{4, "main", 0, 2, 0, 0}, {4, "main", 2, 3, 1, 1}};
  return map;
}

isa::Instruction copy(uint32_t bytes, uint64_t address) {
  isa::Instruction i;
  isa::Dma dma;
  dma.dst_tiles = 1;
  dma.run_bytes = bytes;
  dma.src = dma.dst = address;
  i.body = dma;
  return i;
}

// Three copies one after the other, and 1000 cycles of init before, for which there is no event.
sim::Report run_of_three(const target::Machine& machine) {
  std::vector<isa::Instruction> program = {copy(4096, 0), copy(8192, 4096), copy(1024, 65536)};
  auto timing = sim::time_program(program, machine);
  REQUIRE(timing.ok());
  sim::Report run;
  run.init_cycles = 1000;
  run.main_cycles = timing->cycles;
  run.events = timing->events;
  return run;
}

target::Machine machine() {
  auto m = target::load_machine("cn10ka", {});
  REQUIRE(m.ok());
  m->fetch_buffer = 0;  // code is free, so that cycles can be counted by hand
  return *m;
}

}  // namespace

TEST_CASE("cycles of layers and of the critical path add up to the section") {
  sim::Report run = run_of_three(machine());
  const backend::CodeIndex index = driver::index_of(map_of_two_layers());
  report::Region r = backends::timing_of(run, 777, 1, machine())->profile(index, 4, true);
  CHECK(r.pessimistic_cycles == 777);
  REQUIRE(r.layers.size() == 2);
  CHECK(r.layers[0].operators == "conv (Conv)");
  CHECK(r.layers[1].operators == "pool (MaxPool)");
  // 4096 + 8192 B and 1024 B at 32 a cycle, one after the other; the last byte arrives 200 + 16 cycles later.
  CHECK(run.main_cycles == 128 + 256 + 32 + 216);
  CHECK(r.layers[0].cycles == 128 + 256);
  CHECK(r.layers[1].cycles == 32 + 216);
  CHECK(r.layers[1].bound[static_cast<size_t>(sim::Bound::Wait)] == 216);
  CHECK(r.layers[0].busy[static_cast<size_t>(isa::Queue::DmaIn)] == 128 + 256);
  for (const report::Layer& l : r.layers) {
    uint64_t all = 0;
    for (uint64_t cycles : l.bound) all += cycles;
    CHECK(all == l.cycles);
  }
  CHECK(r.layers[0].ddr_read_bytes == 4096 + 8192);
  CHECK(r.layers[1].ddr_read_bytes == 1024);
  CHECK(report::main_bound(r.layers[0].bound) == static_cast<size_t>(sim::Bound::Ddr));
  REQUIRE(r.bars.size() == 3);
  for (const report::Bar& b : r.bars) CHECK(b.layer == (b.instruction < 2 ? 0u : 1u));
  REQUIRE(r.path.size() == 3);  // DDR for the first layer, for the second, and the wait behind it
  CHECK(r.path[0].layer == 0);
  CHECK(r.path[0].end == 1000 + 384);
  CHECK(r.path[1].layer == 1);
  CHECK(r.path[1].bound == r.path[0].bound);
  CHECK(r.path.front().start == 1000);
  CHECK(r.path.back().end == 1000 + run.main_cycles);
  for (size_t i = 1; i < r.path.size(); ++i) CHECK(r.path[i].start == r.path[i - 1].end);
}

TEST_CASE("utilisation is of what is executed, over all cycles and tiles") {
  sim::Report run = run_of_three(machine());
  run.macs = 1'000'000;
  run.finish_cycles = 368;
  run.events[1].macs = 300'000;
  run.events[2].macs = 700'000;
  const backend::CodeIndex index = driver::index_of(map_of_two_layers());
  report::Region r = backends::timing_of(run, 0, 4, machine())->profile(index, 4, false);
  CHECK(r.macs == 0);  // the network's are not in the run
  CHECK(r.executed_macs == 1'000'000);
  CHECK(r.cycles() == 2000);  // init 1000, main 632
  CHECK(r.pod_utilization == Approx(1e6 / (2000.0 * 4 * 256)));
  CHECK(r.layers[0].executed_macs == 300'000);
  CHECK(r.layers[1].executed_macs == 700'000);
  CHECK(r.layers[1].mac_utilization == Approx(7e5 / (248.0 * 4 * 256)));
  run.events[2].integer_macs = 700'000;  // products of integers are made at twice the rate
  r = backends::timing_of(run, 0, 4, machine())->profile(index, 4, false);
  CHECK(r.layers[1].mac_utilization == Approx(7e5 / (248.0 * 4 * 512)));
  CHECK(r.pod_utilization == Approx((3e5 / 256 + 7e5 / 512) / (2000.0 * 4)));
}

TEST_CASE("instructions that no row of the map holds") {
  const backend::CodeIndex index = driver::index_of(map_of_two_layers());
  CHECK(index.find(4, backend::Section::Main, 2)->layer == 1);
  CHECK(index.find(4, backend::Section::Main, 3) == nullptr);
  CHECK(index.find(4, backend::Section::Init, 0) == nullptr);
  CHECK(index.find(0, backend::Section::Main, 0) == nullptr);
  CHECK(index.layers(0).empty());
}

TEST_CASE("an instruction between two rows of the map belongs to neither") {
  idmap::Map map = map_of_two_layers();
  map.instructions[1].begin = 4;
  map.instructions[1].end = 6;
  const backend::CodeIndex index = driver::index_of(map);
  CHECK(index.find(4, backend::Section::Main, 1)->layer == 0);
  for (uint32_t gap : {2u, 3u}) CHECK(index.find(4, backend::Section::Main, gap) == nullptr);
  CHECK(index.find(4, backend::Section::Main, 4)->layer == 1);
}

TEST_CASE("memory is held from the start of its first instruction to the end of its last") {
  sim::Report run = run_of_three(machine());
  std::vector<backend::MemoryUse> uses(4);
  uses[0] = {backend::MemoryUse::Kind::Weights, "w", 1, 0, 4096, 0, 2, 1};
  uses[1] = {backend::MemoryUse::Kind::Activation, "beyond the program", 1, 0, 4096, 0, 3, 0};
  uses[2] = {backend::MemoryUse::Kind::Activation, "empty", 1, 64, 64, 0, 1, 0};
  uses[3] = {backend::MemoryUse::Kind::Workspace, "one instruction", 3, 64, 128, 1, 1, 0};
  auto held = backends::timing_of(run, 0, 1, machine())->memory(uses);
  REQUIRE(held.size() == 2);
  CHECK(held[0].name == "w");
  CHECK(held[0].kind == 1);
  CHECK(held[0].start == 1000);
  CHECK(held[0].stop == 1000 + run.main_cycles);
  CHECK(held[1].name == "one instruction");
  CHECK(held[1].tiles == 3);
  CHECK(held[1].start < held[1].stop);
  CHECK(held[1].stop < held[0].stop);
}
