// A trace against events made by hand: docs/timing.md says what its times are.
#include "profile/trace.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cn10ka.h"
#include "mrvlc/support/file.h"
#include "paths.h"
#include "profile/counters.h"

using namespace mrvlc;

namespace {

using Json = nlohmann::json;

sim::Event event(sim::Section section, isa::Queue queue, uint8_t tile, std::array<uint64_t, 5> times) {
  sim::Event e;
  e.section = section, e.queue = queue, e.tile = tile, e.instruction = 7;
  e.ready = times[0], e.start = times[1], e.begin = times[2], e.moved = times[3], e.end = times[4];
  e.bound = queue == isa::Queue::Pod ? sim::Bound::Matrix : sim::Bound::Ddr;
  e.ddr_read_bytes = 128, e.ddr_write_bytes = 256;
  return e;
}

std::vector<Json> slices(const sim::Report& run) {
  auto file = std::filesystem::path(MRVLC_BINARY_DIR) / "test-output" / "trace.json";
  std::filesystem::create_directories(file.parent_path());
  const target::Machine machine = *target::load_machine("cn10ka", {});
  const report::Region region = backends::timing_of(run, 0, 2, machine)->profile({}, 3, true);
  const auto label = [](uint32_t, const report::Bar&) { return std::string_view("a \"label\""); };
  REQUIRE(driver::write_trace(file, {region}, label).ok());
  Json all = Json::parse(*read_file(file));
  std::vector<Json> found;
  for (const Json& e : all.at("traceEvents"))
    if (e.at("ph") == "X") found.push_back(e);
  return found;
}

}  // namespace

TEST_CASE("a trace says when engines work, in nanoseconds a cycle, section after section") {
  sim::Report run;
  run.init_cycles = 1000, run.main_cycles = 5000;
  run.events = {event(sim::Section::Init, isa::Queue::DmaIn, 0, {5, 10, 40, 140, 356}),
                event(sim::Section::Main, isa::Queue::Pod, 1, {100, 250, 250, 1250, 1266}),
                event(sim::Section::Finish, isa::Queue::DmaOut, 1, {0, 0, 7, 2007, 2223})};
  auto found = slices(run);
  REQUIRE(found.size() == 3);
  auto number = [](const Json& e, const char* key) { return e.at(key).get<double>(); };
  // A copy while its bytes move, its latency left out.
  CHECK(number(found[0], "ts") == Approx(0.040));
  CHECK(number(found[0], "dur") == Approx(0.100));
  CHECK(found[0].at("tid") == 0);
  CHECK(found[0].at("args").at("waited") == 5);
  CHECK(found[0].at("args").at("section") == "init");
  CHECK(found[0].at("args").at("bound") == "ddr");
  CHECK(found[0].at("args").at("ddr_bytes") == 384);
  // A POD from start to end.
  CHECK(number(found[1], "ts") == Approx(1.250));
  CHECK(number(found[1], "dur") == Approx(1.016));
  CHECK(found[1].at("tid") == 4 + 2);
  CHECK(found[1].at("pid") == 3);
  CHECK(found[1].at("name") == "a \"label\"");
  CHECK(found[1].at("args").at("instruction") == 7);
  CHECK(number(found[2], "ts") == Approx(6.007));
  CHECK(number(found[2], "dur") == Approx(2.000));
  CHECK(found[2].at("tid") == 4 + 1);
}

namespace {

report::Bar copy(uint64_t begin, uint64_t moved, uint64_t bytes, uint8_t queue) {
  report::Bar bar;
  bar.start = bar.begin = begin, bar.moved = bar.end = moved, bar.bytes = bytes, bar.queue = queue;
  return bar;
}

std::vector<std::pair<uint64_t, uint64_t>> pairs(const std::vector<driver::CounterStep>& steps) {
  std::vector<std::pair<uint64_t, uint64_t>> out;
  for (const driver::CounterStep& s : steps) out.emplace_back(s.at, s.value);
  return out;
}

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

}  // namespace

TEST_CASE("the counter of DDR tells every byte once, in the window in which it moves") {
  report::Region r;
  r.main_cycles = 40;
  r.bars = {copy(5, 25, 200, 0), copy(12, 14, 30, 0), copy(30, 31, 7, 1)};
  CHECK(pairs(driver::ddr_bytes(r, 0, 10)) == Pairs{{0, 50}, {10, 130}, {20, 50}, {30, 0}});
  CHECK(pairs(driver::ddr_bytes(r, 1, 10)) == Pairs{{0, 0}, {30, 7}, {40, 0}});
}

TEST_CASE("the counter of memory counts what two hold once, a tile by itself") {
  report::Region r;
  r.memory = {{"a", 0, 1, 0, 100, 10, 30, 0},
              {"view", 0, 1, 50, 150, 20, 40, 0},
              {"other", 0, 2, 0, 8, 10, 50, 0},
              {"for no time", 0, 1, 200, 300, 20, 20, 0}};
  CHECK(pairs(driver::held_bytes(r, 0)) == Pairs{{10, 100}, {20, 150}, {30, 100}, {40, 0}});
  CHECK(pairs(driver::held_bytes(r, 1)) == Pairs{{10, 8}, {50, 0}});
}

TEST_CASE("host steps and regions follow each other in a trace") {
  report::Region r;
  r.id = 4, r.main_cycles = 100, r.tiles = 1;
  r.bars = {copy(10, 20, 64, 0)};
  auto file = std::filesystem::path(MRVLC_BINARY_DIR) / "test-output" / "program.json";
  std::filesystem::create_directories(file.parent_path());
  const auto label = [](uint32_t, const report::Bar&) { return std::string_view("conv"); };
  driver::TraceStep first, second;
  first.before = {{"cpu \"node\"", 2000}};
  second.before = {{"launch", 500}}, second.region = 0, second.after = {{"y: cast", 30}};
  REQUIRE(driver::write_trace(file, {r}, label, {first, second}).ok());
  std::map<std::string, std::pair<double, int>> slices;  // start, pid
  const Json all = Json::parse(*read_file(file));
  for (const Json& e : all.at("traceEvents"))
    if (e.at("ph") == "X") slices[e.at("name")] = {e.at("ts").get<double>(), e.at("pid").get<int>()};
  CHECK(slices.at("cpu \"node\"") == std::pair(0.0, 5));
  CHECK(slices.at("launch") == std::pair(2.0, 5));
  CHECK(slices.at("conv") == std::pair(2.51, 4));
  CHECK(slices.at("y: cast") == std::pair(2.6, 5));
}
