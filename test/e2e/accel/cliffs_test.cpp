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

// Bits of the outputs, one setup against another.
bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); ++i)
    for (int64_t k = 0; equal && k < a[i].elements(); ++k) {
      const double x = a[i].as_double(k), y = b[i].as_double(k);
      equal = std::memcmp(&x, &y, sizeof x) == 0;
    }
  return equal;
}

TEST_CASE("rows by dilation give the same bits") {
  size_t by_dilation = 0;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    Net net(seed);
    const int64_t d = net.pick(2, 14), channels = 16 * net.pick(1, 6), stride = net.pick(1, 3);
    const ir::ValueId x = net.input({net.pick(1, 2), channels, net.pick(20, 30), net.pick(12, 24)});
    net.output(net.epilogue("Relu", {conv(net, x, {16 * net.pick(1, 5), 3, stride, d})}));
    INFO("seed " << seed << ", dilation " << d << ", stride " << stride);
    const Setup large{2, 1 << 20}, small{8, 64 << 10};
    check_on(net, "small", small);
    const Shape& shape = net.graph.value(x).type.shape;
    std::vector<float> data(static_cast<size_t>(net.graph.value(x).type.elements()));
    for (float& v : data) v = static_cast<float>(net.pick(-64, 64)) / 64;
    const Tensor in = Tensor::of(ElementType::F32, shape, data);
    const auto a = outputs_of(net, {in}, large), b = outputs_of(net, {in}, small);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    CHECK(same(*a, *b));
    accel::Options options{8, "net", isa::Architecture::Experimental};
    const Simulated s = simulate(net, options, 64 << 10);
    by_dilation += s.compiled.layers.at(0).cut.find("by dilation") != std::string::npos;
  }
  CHECK(by_dilation >= 4);  // what this test is about does happen
}

}  // namespace
}  // namespace mrvlc::accel_test
