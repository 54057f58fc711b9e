// Programs by hand behind the C interface: what runs, what is refused, what is told afterwards.
#include <catch2/catch.hpp>
#include <limits>

#include "../sim/program.h"
#include "mrvl/device.h"
#include "mrvlc/isa/container.h"
#include "mrvlc/target/machine.h"

using namespace mrvlc;
using namespace mrvlc::sim;

namespace {

class Model {
 public:
  explicit Model(const isa::Binary& binary) {
    REQUIRE(device_ != nullptr);
    const std::string file = isa::write_container(binary);
    const int code = device_->load(device_->context, file.data(), file.size(), &model_);
    INFO(error());
    REQUIRE(code == 0);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() {
    if (model_ != nullptr) device_->unload(device_->context, model_);
    mrvl_simulator_close(device_);
  }
  int run(const std::vector<mrvl_input>& in, const std::vector<mrvl_output>& out) {
    return device_->run(device_->context, model_, in.data(), in.size(), out.data(), out.size());
  }
  int run(const std::string& in, std::string& out) {
    return run({{in.data(), in.size()}}, {{out.data(), out.size()}});
  }
  uint64_t cycles() const { return device_->cycles(device_->context, model_); }
  uint32_t flags() const { return device_->flags(device_->context, model_); }
  uint32_t failed_at() const { return device_->failed_at(device_->context, model_); }
  void fail_at(uint32_t instruction) { mrvl_simulator_fail_at(device_, instruction); }
  std::string error() const { return mrvl_simulator_error(device_); }

 private:
  mrvl_device* device_ = mrvl_simulator_open(nullptr);
  void* model_ = nullptr;
};

// From the input to the output.
std::vector<Instruction> copy(uint32_t bytes) {
  return {load_ocm(kInputAt, 0, bytes), store_ddr(0, kOutputAt, bytes, {{0, Queue::DmaIn, 1}})};
}

}  // namespace

TEST_CASE("buffers that are not the ports' are refused, with nothing written") {
  Model model(binary(copy(2048)));
  std::string in(2049, 'i'), out(2049, 'o');
  const std::string untouched = out;
  const mrvl_input input{in.data(), 2048};
  const mrvl_output output{out.data(), 2048};
  for (size_t bytes : {size_t{0}, size_t{2047}, size_t{2049}}) {
    CAPTURE(bytes);
    CHECK(model.run({{in.data(), bytes}}, {output}) != 0);
    CHECK(model.error().find("input 0 has") == 0);
    CHECK(model.run({input}, {{out.data(), bytes}}) != 0);
    CHECK(model.error().find("output 0 has") == 0);
  }
  CHECK(model.run({}, {output}) != 0);
  CHECK(model.run({input, input}, {output}) != 0);
  CHECK(model.run({input}, {}) != 0);
  CHECK(model.run({input}, {output, output}) != 0);
  CHECK(model.run({{nullptr, 2048}}, {output}) != 0);
  CHECK(model.run({input}, {{nullptr, 2048}}) != 0);
  CHECK(out == untouched);
  CHECK(model.run({input}, {output}) == 0);
  CHECK(out == std::string(2048, 'i') + 'o');
}

TEST_CASE("a port of any type takes its elements' bytes") {
  constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 2, 4, 8, 8};  // from type 1 on, as docs/isa.md lists them
  for (size_t i = 0; i < std::size(kBytes); ++i) {
    const size_t bytes = 24 * kBytes[i];
    isa::Binary b = binary(copy(static_cast<uint32_t>(bytes)), 1, 24, 24);
    for (isa::Port* port : {&b.inputs[0], &b.outputs[0]})
      port->inner_type = port->outer_type = static_cast<uint8_t>(i + 1);
    CAPTURE(i + 1);
    Model model(b);
    std::string in(bytes, 'i'), out(bytes, 'o');
    CHECK(model.run(in, out) == 0);
    CHECK(out == in);
  }
}

TEST_CASE("a program with a hazard fails") {
  Model model(binary({load_ocm(kInputAt, 0, 2048), store_ddr(0, kOutputAt, 2048)}));
  std::string in(2048, 'i'), out(2048, 'o');
  const std::string untouched = out;
  CHECK(model.run(in, out) != 0);
  CHECK(model.error().find("hazard: ") == 0);
  CHECK(out == untouched);
}

TEST_CASE("the instruction that failed is told, until the next run") {
  Model hazard(binary({load_ocm(kInputAt, 0, 2048), store_ddr(0, kOutputAt, 2048)}));
  std::string in(2048, 'i'), out(2048, 'o');
  CHECK(hazard.failed_at() == MRVL_NO_INSTRUCTION);
  CHECK(hazard.run(in, out) != 0);
  CHECK(hazard.failed_at() == 1);  // the store, which does not wait for the load
  Model model(binary(copy(2048)));
  const std::string untouched = out;
  for (uint32_t at : {0u, 1u}) {
    model.fail_at(at);
    CHECK(model.run(in, out) != 0);
    CHECK(model.failed_at() == at);
    CHECK(out == untouched);
  }
  for (uint32_t none : {2u, MRVL_NO_INSTRUCTION}) {  // the program has two instructions
    model.fail_at(none);
    CHECK(model.run(in, out) == 0);
    CHECK(model.failed_at() == MRVL_NO_INSTRUCTION);
    CHECK(out == in);
    out = untouched;
  }
}

TEST_CASE("a fault is asked for by a variable, for some runs after others") {
  setenv("MRVL_SIMULATOR_FAULT", "error@1+1x2", 1);
  Model model(binary(copy(2048)));
  std::string in(2048, 'i'), out(2048, 'o');
  for (bool fails : {false, true, true, false}) {
    CHECK((model.run(in, out) != 0) == fails);
    CHECK(model.failed_at() == (fails ? 1 : MRVL_NO_INSTRUCTION));
  }
  for (const char* wrong : {"", "error@", "errors", "hang@1y", "short:-1", "@1"}) {
    setenv("MRVL_SIMULATOR_FAULT", wrong, 1);
    CHECK(Model(binary(copy(2048))).error().find("is no fault") != std::string::npos);
  }
  unsetenv("MRVL_SIMULATOR_FAULT");
}

TEST_CASE("cycles are those of the last run, with what comes before and after the layers") {
  isa::Binary b = binary(copy(2048));
  b.init = b.finish = b.main;
  // As the device has it: read from a file, on the built-in machine.
  auto file = isa::read_container(isa::write_container(b));
  auto built_in = target::load_machine("cn10ka", {});
  REQUIRE(file.ok());
  REQUIRE(built_in.ok());
  auto simulator = Simulator::create(*file, *built_in);
  REQUIRE(simulator.ok());
  std::string in(2048, 'i'), out(2048, 'o');
  const auto bytes = std::as_bytes(std::span(in.data(), in.size()));
  std::vector<std::string> outputs;
  const std::vector<std::span<const std::byte>> inputs = {bytes};
  const auto report = simulator->run(inputs, outputs);
  REQUIRE(report.ok());
  REQUIRE(report->init_cycles > 0);
  REQUIRE(report->finish_cycles > 0);
  Model model(b);
  CHECK(model.cycles() == 0);
  REQUIRE(model.run(in, out) == 0);
  CHECK(model.cycles() == report->init_cycles + report->main_cycles + report->finish_cycles);
}

TEST_CASE("flags are those of the last run") {
  isa::Binary b = binary({load_ocm(kInputAt, 0, 2048),
                          {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, ew(isa::EwOp::Add, 1, 4096, 0, 2)},
                          store_ddr(4096, kOutputAt, 2048, {{0, Queue::Pe, 1}})});
  Model model(b);
  std::string in = halves({65504, 65504}), out(2048, 'o');
  in.resize(2048);
  CHECK(model.flags() == 0);
  REQUIRE(model.run(in, out) == 0);
  CHECK(model.flags() == MRVL_FLAG_OVERFLOW);
  in.replace(0, 4, halves({1, 2}));
  REQUIRE(model.run(in, out) == 0);
  CHECK(model.flags() == 0);
  in.replace(0, 4, halves({std::numeric_limits<float>::quiet_NaN(), 2}));
  REQUIRE(model.run(in, out) == 0);
  CHECK(model.flags() == MRVL_FLAG_INVALID);
}
