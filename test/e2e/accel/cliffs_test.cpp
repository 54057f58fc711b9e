// Shapes at which a schedule was once several times slower than at the next: cycles against the lower bound,
// as the simulator counts them, and the same bits however a layer is cut.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "harness.h"
#include "mrvlc/cost/timing.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

struct Layer {
  int64_t out = 0, kernel = 1, stride = 1, dilation = 1;
};

ir::ValueId conv(Net& net, ir::ValueId x, const Layer& l) {
  const int64_t in = net.graph.value(x).type.shape[1], pad = l.kernel / 2 * l.dilation;
  const double bound = 1 / std::sqrt(static_cast<double>(in * l.kernel * l.kernel));
  return net.layer("conv", "Conv",
                   {x, net.constant({l.out, in, l.kernel, l.kernel}, -bound, bound), net.constant({l.out})},
                   {{"strides", Ints{l.stride, l.stride}},
                    {"dilations", Ints{l.dilation, l.dilation}},
                    {"pads", Ints{pad, pad, pad, pad}}});
}

Net network(const Shape& shape, const std::vector<Layer>& layers) {
  Net net(1);
  ir::ValueId v = net.input(shape);
  for (const Layer& l : layers) v = conv(net, v, l);
  net.output(v);
  return net;
}

// Cycles over the lower bound, on eight tiles of cn10ka.
double ratio(const Net& net) {
  auto compiled =
      accel::compile_region(net.graph, net.region, machine(), {8, "net", isa::Architecture::Experimental});
  INFO((compiled.ok() ? "" : compiled.error().message));
  REQUIRE(compiled.ok());
  auto timing = cost::time_program(compiled->binary.main, machine());
  REQUIRE(timing.ok());
  return static_cast<double>(timing->cycles) / static_cast<double>(compiled->lower_bound_cycles);
}

TEST_CASE("taps far apart cost no more than taps side by side") {
  for (const int64_t d : {1, 5, 8, 10, 11, 17, 23}) {
    INFO("dilation " << d);
    CHECK(ratio(network({1, 320, 41, 41}, {{256, 3, 1, d}})) < 1.3);
    CHECK(ratio(network({1, 64, 41, 41}, {{320, 1}, {256, 3, 1, d}, {64, 3}})) < 1.3);
  }
}

TEST_CASE("a wide image costs what a high one does") {
  for (const int64_t channels : {16, 32}) {
    CHECK(ratio(network({1, channels, 3840, 64}, {{channels, 3}})) < 1.2);
    CHECK(ratio(network({1, channels, 64, 3840}, {{channels, 3}})) < 1.2);
  }
}

TEST_CASE("a large image goes from layer to layer in parts of rows and columns") {
  const std::vector<Layer> layers = {{16, 3, 2}, {32, 3, 2}, {64, 3, 2}};
  CHECK(ratio(network({1, 3, 2160, 3840}, layers)) < 1.4);
  CHECK(ratio(network({1, 3, 3840, 2160}, layers)) < 1.4);
}

TEST_CASE("tiles share an image of one row") {
  CHECK(ratio(network({1, 32, 1, 513}, {{32, 3}})) < 1.4);
  CHECK(ratio(network({1, 32, 1, 4096}, {{32, 3}})) < 1.5);
}

TEST_CASE("tiles do not wait for each other's many small groups") {
  const auto cycles = [](int64_t groups) {
    Net net(1);
    const ir::ValueId x = net.input({1, 256, 56, 56});
    const ir::ValueId w = net.constant({256, 256 / groups, 3, 3}, -0.1, 0.1);
    net.output(net.layer("conv", "Conv", {x, w}, {{"group", groups}, {"pads", Ints{1, 1, 1, 1}}}));
    return ratio(net);
  };
  CHECK(cycles(128) < 2.2 * cycles(64));
}

// The outputs of two setups, bit for bit.
void check_same(const Net& net, ir::ValueId input, const Setup& a, const Setup& b) {
  std::vector<float> data(static_cast<size_t>(net.graph.value(input).type.elements()));
  uint32_t state = 1;
  for (float& v : data) {
    state = state * 1664525 + 1013904223;
    v = static_cast<float>(state >> 24) / 128 - 1;
  }
  const Tensor in = Tensor::of(ElementType::F32, net.graph.value(input).type.shape, data);
  const auto x = outputs_of(net, {in}, a), y = outputs_of(net, {in}, b);
  REQUIRE(x.ok());
  REQUIRE(y.ok());
  REQUIRE(x->size() == y->size());
  for (size_t i = 0; i < x->size(); ++i) {
    bool equal = true;
    for (int64_t k = 0; k < (*x)[i].elements(); ++k) {
      const double p = (*x)[i].as_double(k), q = (*y)[i].as_double(k);
      equal = equal && std::memcmp(&p, &q, sizeof p) == 0;
    }
    CHECK(equal);
  }
}

TEST_CASE("rows by dilation give the same bits") {
  size_t by_dilation = 0;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    Net net(seed);
    const int64_t d = net.pick(2, 14), channels = 16 * net.pick(1, 6), stride = net.pick(1, 3);
    const ir::ValueId x = net.input({net.pick(1, 2), channels, net.pick(20, 30), net.pick(12, 24)});
    const ir::ValueId y = conv(net, x, {16 * net.pick(1, 5), 3, stride, d});
    net.output(net.epilogue("Relu", {y}));
    INFO("seed " << seed << ", dilation " << d << ", stride " << stride);
    const Setup small{8, 64 << 10};
    check_on(net, "small", small);
    check_same(net, x, {2, 1 << 20}, small);
    const Simulated s = simulate(net, {8, "net", isa::Architecture::Experimental}, small.ocm_bytes);
    by_dilation += s.compiled.layers.at(0).cut.find("by dilation") != std::string::npos;
  }
  CHECK(by_dilation >= 4);  // what this test is about does happen
}

// Windows, sums and functions over images of three rows, which have no stripes of rows.
TEST_CASE("parts of columns give the same bits") {
  size_t in_parts = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    Net net(seed);
    const ir::ValueId x = net.input({1, 16, 3, net.pick(400, 700)});
    const int64_t layers = net.pick(2, 4);
    ir::ValueId v = x;
    for (int64_t k = 0; k < layers; ++k) {
      const int64_t kind = net.pick(0, 4), stride = k == 0 ? 1 : net.pick(1, 2);
      const ir::ValueId before = v;
      v = conv(net, v, {16, kind == 0 ? 1 : 3, 1, kind == 1 ? net.pick(1, 3) : 1});
      if (kind == 2) v = net.epilogue("Add", {v, before});
      if (kind == 3) v = net.layer("elementwise", "Mul", {v, before});
      if (kind == 4) v = net.layer("elementwise", "Sigmoid", {v});
      if (stride == 2)
        v = net.layer("pool", "MaxPool", {v},
                      {{"kernel_shape", Ints{1, 3}}, {"strides", Ints{1, 2}}, {"pads", Ints{0, 1, 0, 1}}});
    }
    net.output(v);
    INFO("seed " << seed);
    const Setup small{static_cast<uint32_t>(1 << net.pick(0, 1)), 32 << 10};
    check_on(net, "small", small);
    check_same(net, x, {2, 1 << 20}, small);
    accel::Options options{small.tiles, "net", isa::Architecture::Experimental};
    options.texts = {accel::Stage::Tiling};
    const Simulated s = simulate(net, options, small.ocm_bytes);
    size_t cuts = 0;
    for (const std::string& text : s.compiled.texts)
      for (size_t at = text.find("cut "); at != std::string::npos; at = text.find("cut ", at + 1)) ++cuts;
    in_parts += cuts > 2 * net.region.layers.size();
  }
  CHECK(in_parts >= 4);
}

}  // namespace
}  // namespace mrvlc::accel_test
