// Compiled networks on the simulator: the same bits for any number of threads, and layers that add up.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>

#include "mrvlc/isa/container.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/tensor/float16.h"
#include "run/process.h"
#include "support.h"

using namespace mrvlc;
namespace fs = std::filesystem;

namespace {

// fp16 below 1, which every network takes.
std::string random_input(const isa::Port& port, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes;
  for (uint32_t i = 0; i < port.elements(); ++i) {
    uint16_t v = float_to_half(static_cast<float>(random() % 1000) / 1000);
    bytes.append(reinterpret_cast<const char*>(&v), 2);
  }
  return bytes;
}

std::vector<std::string> outputs_with(sim::Simulator& simulator, unsigned jobs) {
  std::vector<std::string> inputs, outputs;
  for (const isa::Port& p : simulator.binary().inputs) inputs.push_back(random_input(p, 7));
  std::vector<std::span<const std::byte>> spans;
  for (const std::string& i : inputs) spans.push_back(std::as_bytes(std::span(i.data(), i.size())));
  sim::Options options;
  options.jobs = jobs;
  auto report = simulator.run(spans, outputs, options);
  REQUIRE(report.ok());
  CHECK(report->hazards.empty());
  return outputs;
}

void check_layers(sim::Simulator& simulator, const test::Json& map, uint32_t region) {
  auto report = simulator.time_only();
  REQUIRE(report.ok());
  std::vector<sim::InstructionSpan> spans;
  for (const test::Json& i : map["instructions"])
    if (i["region"] == region && i["section"] == "main")
      spans.push_back({sim::Section::Main, i["begin"], i["end"], i["layer"]});
  uint64_t cycles = 0;
  for (const sim::LayerTime& l : sim::layer_times(report->events, sim::Section::Main, spans)) {
    CHECK(l.layer != sim::kNoLayer);
    cycles += l.cycles;
  }
  CHECK(cycles == report->main_cycles);
}

// How many regions were executed.
size_t check_model(const fs::path& model, uint32_t tiles) {
  driver::CompileOptions options;
  options.model = model;
  options.out = test::scratch("sim_threads");
  options.accelerator.tiles = tiles;
  std::string errors;
  INFO(model << " on " << tiles << " tiles");
  REQUIRE(test::compile(options, errors));
  test::Json map = test::read_json(options.out / "idmap.json"),
             report = test::read_json(options.out / "report.json");
  REQUIRE(!report["regions"].empty());
  size_t executed = 0;
  for (const test::Json& region : report["regions"]) {
    auto binary = isa::read_container(test::slurp(options.out / region["file"].get<std::string>()));
    REQUIRE(binary.ok());
    auto simulator = sim::Simulator::create(*binary, *target::load_machine("cn10ka", {}));
    REQUIRE(simulator.ok());
    bool halves =
        std::ranges::all_of(simulator->binary().inputs, [](const isa::Port& p) { return p.inner_type == 7; });
    if (halves) {
      auto one = outputs_with(*simulator, 1);
      for (unsigned jobs : {2u, 7u}) CHECK(outputs_with(*simulator, jobs) == one);
      ++executed;
    }
    check_layers(*simulator, map, region["id"]);
  }
  return executed;
}

}  // namespace

TEST_CASE("a trained network") {
  for (uint32_t tiles : {1u, 8u}) CHECK(check_model(test::own_model("digits/digits.onnx"), tiles) == 1);
}

TEST_CASE("networks with many layers") {
  for (const char* name : {"mobilenetv2", "transformer_encoder"})
    if (fs::exists(test::generated_model(name))) check_model(test::generated_model(name), 4);
  if (!test::shared_data().empty()) check_model(test::shared_data() / "zoo" / "squeezenet_fp16.onnx", 8);
}

TEST_CASE("-j reaches the program that simulates, beside its environment") {
  REQUIRE(::setenv("MRVLC_TEST_KEPT", "kept", 1) == 0);
  REQUIRE(::setenv("MRVLC_JOBS", "9", 1) == 0);
  auto ran = driver::run_process({"sh", "-c", "echo $MRVLC_JOBS $MRVLC_TEST_KEPT"}, {"MRVLC_JOBS=3"});
  ::unsetenv("MRVLC_JOBS");
  REQUIRE(ran.ok());
  CHECK(ran->output == "3 kept\n");
  driver::VerifyOptions options;
  options.compile.model = test::own_model("digits/digits.onnx");
  options.compile.jobs = 3;
  options.sets = {"uniform"};
  std::string errors;
  auto worst = test::verify(options, errors);
  INFO(errors);
  REQUIRE(worst);
  CHECK(*worst < 2e-2);
}
