// Weights that stay on chip (pin_weights) and effort: other programs, the same results.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

ir::ValueId conv(Net& net, ir::ValueId x, int64_t out, int64_t kernel, int64_t stride, int64_t group = 1) {
  int64_t in = net.graph.value(x).type.shape[1] / group, pad = kernel / 2;
  double bound = 1.7 / std::sqrt(static_cast<double>(in * kernel * kernel));
  ir::ValueId y =
      net.layer("conv", "Conv",
                {x, net.constant({out, in, kernel, kernel}, -bound, bound), net.constant({out}, -0.1, 0.1)},
                {{"group", group}, {"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}});
  return net.epilogue("Relu", {y});
}

// A small classifier with every kind of weights: convolutions, depthwise, a table, a matrix product.
Net classifier() {
  Net net(3);
  ir::ValueId x = net.input({1, 3, 48, 48});
  x = conv(net, x, 32, 3, 2);
  x = conv(net, x, 32, 3, 1, 32);
  x = conv(net, x, 96, 1, 1);
  x = net.layer("elementwise", "Sigmoid", {x});
  x = conv(net, x, 128, 3, 2);
  x = net.layer("pool", "GlobalAveragePool", {x});
  x = net.layer("reshape", "Flatten", {x});
  net.output(net.layer("fc", "Gemm", {x, net.constant({128, 200}, -0.2, 0.2), net.constant({200})}));
  return net;
}

// More weights than one tile has memory: `layers` of 512 x 512 x 9 x 2 bytes.
Net heavy(int layers) {
  Net net(4);
  ir::ValueId x = net.input({1, 512, 7, 7});
  for (int i = 0; i < layers; ++i) x = conv(net, x, 512, 3, 1);
  net.output(x);
  return net;
}

TEST_CASE("ports tell their dimensions as stored, innermost last") {
  using Dims = std::array<uint32_t, 4>;
  for (const auto& [shape, dims] :
       {std::pair(Shape{7, 5}, Dims{1, 1, 7, 5}), std::pair(Shape{6}, Dims{1, 1, 1, 6}),
        std::pair(Shape{2, 3, 4, 5, 6}, Dims{6, 4, 5, 6})}) {
    Net net(1);
    net.output(net.layer("elementwise", "Sigmoid", {net.input(shape)}));
    accel::Options o;
    o.name = "net";
    Simulated s = simulate(net, o);
    REQUIRE(s.error.empty());
    for (const auto* ports : {&s.compiled.binary.inputs, &s.compiled.binary.outputs}) {
      REQUIRE(ports->size() == 1);
      CHECK(std::equal(dims.begin(), dims.end(), std::begin((*ports)[0].dims)));
    }
  }
}

accel::Options options(uint32_t tiles, uint32_t effort, bool pin) {
  accel::Options o;
  o.tiles = tiles;
  o.name = "net";
  o.effort = effort;
  o.pin_weights = pin;
  return o;
}

uint64_t bytes_from_weights(const std::vector<isa::Instruction>& program, uint64_t weights) {
  uint64_t bytes = 0;
  for (const isa::Instruction& i : program) {
    const auto* d = std::get_if<isa::Dma>(&i.body);
    if (d == nullptr || d->src_space != isa::Space::Ddr || d->src >= weights) continue;
    bytes += uint64_t{d->run_bytes} * d->dims[0] * d->dims[1] * d->dims[2];
  }
  return bytes;
}

std::string encoded(const Simulated& s) {
  return isa::write_container(s.compiled.binary);
}

TEST_CASE("pinned weights come with the init section and give the same bits") {
  Net net = classifier();
  for (uint32_t tiles : {1u, 2u, 4u, 8u}) {
    INFO(tiles << " tiles");
    Simulated plain = simulate(net, options(tiles, 1, false)),
              pinned = simulate(net, options(tiles, 1, true));
    REQUIRE(plain.error == "");
    REQUIRE(pinned.error == "");
    CHECK(pinned.outputs == plain.outputs);
    uint64_t weights = plain.compiled.binary.weights.size();
    CHECK(bytes_from_weights(plain.compiled.binary.main, weights) > 0);
    CHECK(bytes_from_weights(pinned.compiled.binary.main, weights) == 0);
    CHECK(bytes_from_weights(pinned.compiled.binary.init, weights) > 100'000);
    CHECK(pinned.report.main_cycles < plain.report.main_cycles);
    CHECK(covers(pinned.compiled));
  }
}

TEST_CASE("pinned weights survive an inference") {
  // Main may run again without init: nothing in it may write where init has put something.
  Simulated pinned = simulate(classifier(), options(8, 1, true));
  REQUIRE(pinned.error == "");
  std::vector<std::vector<bool>> kept(8, std::vector<bool>(1 << 20, false));
  auto each_write = [](const std::vector<isa::Instruction>& program, auto f) {
    for (const isa::Instruction& i : program)
      for (const isa::Access& a : isa::accesses(i))
        if (a.write && a.space == isa::Space::Ocm) f(i, a);
  };
  size_t init = 0, main = 0, clash = 0;
  auto each_byte = [](const isa::Access& a, auto f) {
    for (uint64_t b = a.begin; b < a.end; ++b)
      if (a.stride == 0 || (b - a.begin) % a.stride < a.run) f(b);
  };
  each_write(pinned.compiled.binary.init, [&](const isa::Instruction&, const isa::Access& a) {
    ++init;
    each_byte(a, [&](uint64_t b) { kept[a.tile][b] = true; });
  });
  each_write(pinned.compiled.binary.main, [&](const isa::Instruction&, const isa::Access& a) {
    ++main;
    each_byte(a, [&](uint64_t b) { clash += kept[a.tile][b]; });
  });
  CHECK(init > 0);
  CHECK(main > 0);
  CHECK(clash == 0);
}

TEST_CASE("weights that do not stay on chip are an error with a code of its own") {
  Net net = heavy(3);
  Simulated pinned = simulate(net, options(1, 1, true));
  CHECK(pinned.code == DiagCode::MRV0504);
  CHECK(pinned.error.find("--wb-pin") != std::string::npos);
  CHECK(simulate(net, options(1, 1, false)).error == "");
}

TEST_CASE("more effort is never slower, changes no bit of the results, and is deterministic") {
  const std::pair<const char*, Net> nets[] = {{"classifier", classifier()}, {"heavy", heavy(3)}};
  for (const auto& [name, net] : nets)
    for (uint32_t tiles : {2u, 8u}) {
      INFO(name << ", " << tiles << " tiles");
      Simulated little = simulate(net, options(tiles, 1, false));
      Simulated much = simulate(net, options(tiles, 2, false));
      REQUIRE(little.error == "");
      REQUIRE(much.error == "");
      CHECK(much.report.main_cycles <= little.report.main_cycles);
      CHECK(much.outputs == little.outputs);
      CHECK(encoded(much) == encoded(simulate(net, options(tiles, 2, false))));
    }
}

}  // namespace
}  // namespace mrvlc::accel_test
