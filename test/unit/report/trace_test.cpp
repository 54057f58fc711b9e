// A trace against events made by hand: docs/timing.md says what its times are.
#include "profile/trace.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cn10ka.h"
#include "mrvlc/support/file.h"
#include "paths.h"

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
