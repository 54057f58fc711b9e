#include "check.h"

#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "model.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel_random {
namespace {

bool same(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b);
}

std::string first_difference(const Tensor& got, const Tensor& expected) {
  int64_t different = 0, first = -1;
  for (int64_t i = 0; i < got.elements(); ++i) {
    auto k = static_cast<size_t>(i);
    if (same(got.data<float>()[k], expected.data<float>()[k])) continue;
    if (different++ == 0) first = i;
  }
  if (first < 0) return {};
  auto k = static_cast<size_t>(first);
  return fmt::format("{} of {} elements differ, the first at {}: {} instead of {}", different, got.elements(),
                     first, got.data<float>()[k], expected.data<float>()[k]);
}

class Case {
 public:
  Case(const ir::Graph& graph, const Setup& setup, uint64_t seed) : g_(graph), setup_(setup), seed_(seed) {}

  Outcome run() {
    partition::Options options;
    options.accel = {"*"};
    auto backend = backends::open(setup_.machine, {.tiles = setup_.tiles});
    if (!backend.ok()) return refused(backend.error());
    auto parts = partition::partition(g_, backend->get(), options);
    if (!parts.ok()) return refused(parts.error());
    for (partition::Region& r : parts->regions) choose_precisions(r);
    for (ir::ValueId v : g_.inputs()) values_[v] = random_values(g_.value(v));
    for (const partition::Step& step : parts->steps) {
      if (step.kind == partition::Step::Kind::Cpu) return fail("a node was left to the CPU");
      if (!region(parts->regions[step.region])) break;
      out_.layers += parts->regions[step.region].layers.size();
    }
    return out_;
  }

 private:
  // Of the name, so that it stays when other values are cut off.
  Dice dice_for(const ir::Value& value, uint64_t seed) const {
    for (char c : value.name) seed = seed * 131 + static_cast<unsigned char>(c);
    return Dice(seed);
  }

  void choose_precisions(partition::Region& r) const {
    const partition::PrecisionChoice choice(g_, r);
    for (ir::ValueId v : choice.values()) {
      Dice dice = dice_for(g_.value(v), seed_ + 1);
      if (!dice.chance(setup_.exact)) continue;
      partition::Precision p;
      if (dice.chance(80)) p.kind = partition::Precision::Kind::Pair;
      if (dice.chance(40)) p.shift = static_cast<int32_t>(dice.of({-9, -3, -1, 1, 2, 5, 12, 24}));
      if (!choice.obstacle(v, p)) choice.set(r.precisions, v, p);
    }
  }

  Tensor random_values(const ir::Value& value) {
    Dice dice = dice_for(value, seed_);
    Tensor t = zeros(value.type.shape);
    double scale = dice.of({1.0, 1.0, 1.0, 4.0, 30.0});
    bool special = dice.chance(6);
    for (float& v : t.mutable_data<float>()) {
      v = static_cast<float>(dice.real(-scale, scale));
      if (special && dice.chance(3))
        v = half_to_float(static_cast<uint16_t>(dice.next()));  // any number, or none
    }
    return t;
  }

  Outcome fail(std::string why) {
    out_.failure = std::move(why);
    return out_;
  }
  Outcome refused(const Diag& d) {
    out_.refused = true;
    out_.refusal = d.message;
    return out_;
  }

  bool region(const partition::Region& r) {
    Model model(g_, r);
    for (ir::ValueId v : r.inputs) model.set(v, values_.at(v));
    for (const partition::Layer& layer : r.layers) {
      Status s = model.run(layer);
      if (!s.ok()) return refused(s.error()), false;
    }
    auto compiled = compile(r);
    if (!compiled.ok()) {
      if (compiled.error().code == DiagCode::MRV0501) return refused(compiled.error()), false;
      return fail("compile: " + compiled.error().message), false;
    }
    if (seed_ % 16 == 0) again(r, *compiled);
    memory_map(*compiled);
    simulate(*compiled);
    for (size_t i = 0; i < r.outputs.size() && out_.failure.empty(); ++i) compare(model, *compiled, i);
    return out_.failure.empty();
  }

  Result<accel::CompiledRegion> compile(const partition::Region& r) const {
    accel::Options options;
    options.tiles = setup_.tiles;
    options.name = "net";
    options.effort = setup_.effort;
    options.column = setup_.column;
    options.pin_weights = setup_.pin_weights;
    auto compiled = accel::compile_region(g_, r, setup_.machine, options);
    if (compiled.ok() || compiled.error().code != DiagCode::MRV0504) return compiled;
    options.pin_weights = false;
    return accel::compile_region(g_, r, setup_.machine, options);
  }

  // What holds on-chip memory lies within it, and nothing holds what another one still does.
  void memory_map(const accel::CompiledRegion& c) {
    for (size_t i = 0; i < c.memory_uses.size(); ++i) {
      const backend::MemoryUse& a = c.memory_uses[i];
      if (a.begin >= a.end || a.end > setup_.machine.ocm_bytes || a.first > a.last ||
          a.last >= c.binary.main.size())
        fail(fmt::format("memory map: '{}' [{:#x}, {:#x}) in instructions {} to {}", a.name, a.begin, a.end,
                         a.first, a.last));
      for (size_t k = 0; k < i && out_.failure.empty(); ++k) {
        const backend::MemoryUse& b = c.memory_uses[k];
        bool apart = (a.tiles & b.tiles) == 0 || a.end <= b.begin || b.end <= a.begin || a.last < b.first ||
                     b.last < a.first;
        if (!apart)
          fail(fmt::format("memory map: '{}' [{:#x}, {:#x}) in {} to {} and '{}' [{:#x}, {:#x}) in {} to {}",
                           a.name, a.begin, a.end, a.first, a.last, b.name, b.begin, b.end, b.first, b.last));
      }
    }
  }

  void again(const partition::Region& r, const accel::CompiledRegion& c) {
    auto second = compile(r);
    if (!second.ok() || isa::write_container(second->binary) != isa::write_container(c.binary))
      fail("compiled again, it is another binary");
  }

  void simulate(const accel::CompiledRegion& c) {
    if (!accel_test::covers(c)) fail("an instruction belongs to no layer");
    auto binary = isa::read_container(isa::write_container(c.binary));
    if (!binary.ok()) return void(fail("container: " + binary.error().message));
    auto simulator = sim::Simulator::create(*binary, setup_.machine);
    if (!simulator.ok()) return void(fail("simulator: " + simulator.error().message));
    std::vector<std::string> bytes;
    for (const backend::Port& port : c.inputs)
      bytes.push_back(accel_test::to_device(port, values_.at(port.value)));
    std::vector<std::span<const std::byte>> spans;
    for (const std::string& b : bytes) spans.push_back(std::as_bytes(std::span(b.data(), b.size())));
    sim::Options options;
    options.keep_events = false;
    auto report = simulator->run(spans, bytes_out_, options);
    if (!report.ok()) return void(fail("run: " + report.error().message));
    if (!report->hazards.empty()) return void(fail("hazard: " + report->hazards[0].what));
    if (report->total_cycles() < c.lower_bound_cycles)
      fail(fmt::format("{} cycles, less than the lower bound {}", report->total_cycles(),
                       c.lower_bound_cycles));
  }

  void compare(Model& model, const accel::CompiledRegion& c, size_t i) {
    ir::ValueId v = c.outputs[i].value;
    const Tensor& expected = model.get(v);
    std::string why =
        first_difference(accel_test::from_device(c.outputs[i], bytes_out_[i], expected.shape()), expected);
    if (!why.empty()) fail(fmt::format("output %{}: {}", g_.value(v).name, why));
    values_[v] = expected;
  }

  const ir::Graph& g_;
  const Setup& setup_;
  uint64_t seed_;
  Outcome out_;
  std::map<ir::ValueId, Tensor> values_;
  std::vector<std::string> bytes_out_;
};

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

std::string without_numbers(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c < '0' || c > '9') {
      out += c;
    } else if (!out.ends_with('#')) {
      out += '#';
    }
  return out;
}

struct Tally {
  int64_t cases = 0, refused = 0, failed = 0;
  size_t layers = 0;
  std::map<std::string, std::vector<uint64_t>> refusals;  // reason: seeds
};

void one_case(void (*make)(Builder&), uint64_t seed, Tally& tally) {
  Dice dice(seed * 2 + 1);
  Setup setup = random_setup(dice);
  Builder b(seed, dice.chance(8) ? 16000000 : dice.pick(50000, 3000000));
  make(b);
  if (std::getenv("MRVLC_RANDOM_PRINT") != nullptr)
    fmt::print("{}\n{}", to_string(setup), ir::print(b.net.graph, {false}));
  Outcome o = check(b.net.graph, setup, seed);
  ++tally.cases;
  tally.layers += o.layers;
  if (o.refused) {
    ++tally.refused;
    tally.refusals[without_numbers(o.refusal)].push_back(seed);
  }
  if (o.failure.empty()) return;
  ++tally.failed;
  ir::Graph small = shrink(b.net.graph, setup, seed);
  std::string why = check(small, setup, seed).failure;
  FAIL_CHECK("MRVLC_RANDOM_SEED=" << seed << " MRVLC_RANDOM_CASES=1: " << o.failure << "\nshrunk: " << why
                                  << "\n"
                                  << to_string(setup) << "\n"
                                  << ir::print(small, {false}));
}

}  // namespace

Setup random_setup(Dice& dice) {
  Setup s{accel_test::machine(), dice.of({1u, 2u, 4u, 8u})};
  target::Machine& m = s.machine;
  m.ocm_bytes = dice.chance(40) ? 64u << 10 : static_cast<uint32_t>(dice.pick(512, 8192)) * 128;
  m.ddr_bytes = dice.of({4u, 8u, 16u, 32u, 64u});
  m.accumulator_pixels = dice.of({1024u, 1024u, 256u, 512u, 2048u});
  m.tile_link_bytes = dice.of({64u, 64u, 16u, 32u, 128u});
  m.ddr_burst = dice.of({128u, 128u, 64u, 256u});
  m.ddr_latency = dice.of({200u, 200u, 20u, 1000u});
  m.instruction_overhead = dice.of({16u, 16u, 1u, 100u});
  s.effort = dice.chance(15) ? 2 : 1;
  s.pin_weights = dice.chance(20);
  s.exact = dice.of({0, 0, 0, 30, 60, 100});
  m.queue_depth = dice.of({64u, 0u, 1u, 2u, 4u, 16u});
  m.fetch_buffer = dice.of({4096u, 0u, target::kLeastFetchBuffer, 65536u});
  m.ddr_efficiency = dice.of({100u, 100u, 85u, 31u});
  m.sync_latency = dice.of({0u, 0u, 30u, 500u});
  m.accumulation_fill = dice.of({0u, 0u, 64u, 300u});
  m.reduction_gap = dice.of({0u, 0u, 64u, 300u});
  m.pixel_block = dice.of({1u, 1u, 16u, 7u});
  if (dice.chance(25)) m.ocm_read_bytes /= 2, m.ocm_write_bytes /= 2;
  s.column = static_cast<target::Column>(dice.of({0, 0, 0, 1, 2}));
  return s;
}

std::string to_string(const Setup& s) {
  return fmt::format(
      "{} tiles, effort {}, pin_weights {}, exact {}, ocm_bytes {}, ddr_bytes {}, accumulator_pixels {}, "
      "tile_link_bytes {}, queue_depth {}, fetch_buffer {}, sync_latency {}, accumulation_fill {}, "
      "reduction_gap {}, pixel_block {}, column {}",
      s.tiles, s.effort, s.pin_weights, s.exact, s.machine.ocm_bytes, s.machine.ddr_bytes,
      s.machine.accumulator_pixels, s.machine.tile_link_bytes, s.machine.queue_depth, s.machine.fetch_buffer,
      s.machine.sync_latency, s.machine.accumulation_fill, s.machine.reduction_gap, s.machine.pixel_block,
      target::kColumns[static_cast<size_t>(s.column)]);
}

Outcome check(const ir::Graph& graph, const Setup& setup, uint64_t seed) {
  return Case(graph, setup, seed).run();
}

void run_cases(const char* name, void (*make)(Builder&), uint64_t first, int64_t cases) {
  auto from = static_cast<uint64_t>(setting("MRVLC_RANDOM_SEED", static_cast<int64_t>(first)));
#ifndef NDEBUG
  cases /= 5;  // builds without optimisation, or with sanitizers, take several times as long
#endif
  int64_t count = setting("MRVLC_RANDOM_CASES", cases);
  Tally tally;
  for (int64_t i = 0; i < count && tally.failed < 20; ++i)
    one_case(make, from + static_cast<uint64_t>(i), tally);
  std::string text = fmt::format("{}: {} cases, {} layers, {} outside, {} failed\n", name, tally.cases,
                                 tally.layers, tally.refused, tally.failed);
  for (const auto& [why, seeds] : tally.refusals)
    text += fmt::format("  {} x {} (seed {})\n", seeds.size(), why, seeds[0]);
  fmt::print("{}", text);
  CHECK(tally.refused * 20 <= tally.cases + 20);
}

}  // namespace mrvlc::accel_random
