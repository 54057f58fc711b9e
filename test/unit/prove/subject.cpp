// Compiles, and asks both judges.
#include "subject.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <span>

#include "mrvlc/driver/driver.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/hash.h"
#include "mrvlc/target/find.h"
#include "mrvlc/tensor/float16.h"
#include "region.h"

namespace mrvlc::test {
namespace {

std::string in_plain_code(const std::string& bytes) {
  auto binary = isa::read_container(bytes);
  REQUIRE(binary.ok());
  binary->encoding = isa::Encoding::Plain;
  return isa::write_container(*binary);
}

// Init, and one inference, before the sections of the binary: the run of it is the second inference.
isa::Binary second_inference(isa::Binary b) {
  std::array<uint32_t, 32> given{}, offset{};
  std::vector<isa::Instruction> init;
  for (const auto* list : {&b.init, &b.main, &b.finish}) {
    offset = given;
    for (isa::Instruction i : *list) {
      for (isa::Wait& w : i.waits)
        if (w.count > 0) w.count += offset[w.tile * 4u + static_cast<uint32_t>(w.queue)];
      ++given[i.tile * 4u + static_cast<uint32_t>(i.queue)];
      init.push_back(std::move(i));
    }
  }
  b.init = std::move(init);
  return b;
}

std::vector<std::string> drawn(const isa::Binary& b, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::string> inputs;
  for (const isa::Port& p : b.inputs) {
    std::string bytes(p.bytes(), '\0');
    const uint32_t size = isa::port_type_bytes(p.inner_type);
    for (size_t i = 0; i < bytes.size(); i += size) {
      const float v = static_cast<float>(random() % 4096) / 1024.0f - 2.0f;
      const uint16_t half = float_to_half(v);
      const auto byte = static_cast<char>(random());
      if (size == 2) std::memcpy(&bytes[i], &half, 2);
      if (size == 4) std::memcpy(&bytes[i], &v, 4);
      if (size == 1) bytes[i] = byte;
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

}  // namespace

std::string sealed(std::string b) {
  const auto bytes = [&] { return std::as_bytes(std::span(b.data(), b.size())); };
  const auto identity = sha256(bytes().subspan(256));
  std::memcpy(&b[12], identity.data(), identity.size());
  const uint32_t body = crc32c(bytes().subspan(256));
  std::memcpy(&b[248], &body, 4);
  const uint32_t header = crc32c(bytes().first(252));
  std::memcpy(&b[252], &header, 4);
  return b;
}

Subject::Subject(const std::filesystem::path& file, uint32_t tiles, bool pinned) {
  const TempDir dir;
  driver::CompileOptions options;
  options.model = file;
  options.out = dir.path() / "out";
  options.accelerator.tiles = tiles;
  options.accelerator.pin_weights = pinned;
  Diagnostics diagnostics;
  REQUIRE(driver::compile(options, diagnostics, [](const std::string&) {}));
  hints_text = slurp(options.out / "proof.json");
  hints = prove::read_hints(hints_text).value();
  Diagnostics said;
  model = onnx::import_file(file, prove::import_options(hints_text), said).value();
  bytes = in_plain_code(slurp(options.out / hints.regions.at(0).file));
  const auto text = target::find_target("cn10ka", {});
  REQUIRE(text.ok());
  machine = target::read_machine("cn10ka", *text).value();
  uint32_t offset = 0;
  std::memcpy(&offset, &bytes[576], 4);
  first_instruction = offset;
  uint32_t size = 0;
  std::memcpy(&size, &bytes[580], 4);
  instructions = size / 256;
  std::memcpy(&offset, &bytes[1224], 4);
  first_weight = offset;
  std::memcpy(&size, &bytes[1228], 4);
  weights = size;
}

std::string Subject::refusal(const std::string& changed) const {
  const prove::Field field("test");
  const prove::Target target{machine.ocm_bytes, machine.accumulator_pixels};
  return prove::prove_region(hints.regions[0], changed, model.graph, field, target).proof.refusal;
}

std::optional<std::vector<std::string>> Subject::results(const std::string& changed, int count) const {
  const auto binary = isa::read_container(changed);
  if (!binary.ok()) return std::nullopt;
  std::vector<std::string> all;
  for (const bool second : {false, true}) {
    auto simulator = sim::Simulator::create(second ? second_inference(*binary) : *binary, machine);
    if (!simulator.ok()) return std::nullopt;
    for (int k = 0; k < count; ++k) {
      const std::vector<std::string> inputs = drawn(*binary, static_cast<uint32_t>(k) + 1);
      std::vector<std::span<const std::byte>> spans;
      for (const std::string& i : inputs) spans.push_back(std::as_bytes(std::span(i.data(), i.size())));
      sim::Options options;
      options.detect_hazards = k == 0 && !second;
      options.keep_events = false;
      options.jobs = 1;
      std::vector<std::string> outputs;
      const auto report = simulator->run(spans, outputs, options);
      if (!report.ok() || !report->hazards.empty()) return std::nullopt;
      all.insert(all.end(), outputs.begin(), outputs.end());
    }
  }
  return all;
}

}  // namespace mrvlc::test
