// Networks whose tensors do not fit on chip, and pixels that nobody reads: what is left out of the work, and
// that the results stay the same.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

ir::ValueId conv(Net& net, ir::ValueId x, int64_t out, int64_t kernel, int64_t stride) {
  int64_t in = net.graph.value(x).type.shape[1], pad = kernel / 2;
  double bound = 1.7 / std::sqrt(static_cast<double>(in * kernel * kernel));
  ir::ValueId y =
      net.layer("conv", "Conv",
                {x, net.constant({out, in, kernel, kernel}, -bound, bound), net.constant({out}, -0.1, 0.1)},
                {{"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}});
  return net.epilogue("Relu", {y});
}

accel::Options options(uint32_t tiles) {
  accel::Options o;
  o.tiles = tiles;
  o.name = "net";
  return o;
}

// Images of 160 x 160 with 32 channels: 1.6 MB each.
Net large_images() {
  Net net(5);
  ir::ValueId x = net.input({1, 3, 160, 160});
  for (int i = 0; i < 4; ++i) x = conv(net, x, 32, 3, 1);
  net.output(conv(net, x, 8, 3, 4));
  return net;
}

TEST_CASE("images that do not fit are worked through in stripes, with the same bits") {
  Net net = large_images();
  constexpr uint64_t kBetween = uint64_t{4} * 2 * 2 * 32 * 160 * 160;  // written and read, if all went to DDR
  Simulated roomy = simulate(net, options(8), 1 << 20), tight = simulate(net, options(8), 192 << 10);
  REQUIRE(roomy.error == "");
  REQUIRE(tight.error == "");
  CHECK(tight.outputs == roomy.outputs);
  auto traffic = [](const Simulated& s) { return s.report.ddr_read_bytes + s.report.ddr_write_bytes; };
  INFO("DDR bytes: " << traffic(roomy) << " with room, " << traffic(tight) << " without");
  // With room only the input, the weights and the output go through DDR.
  CHECK(traffic(roomy) < 500'000);
  CHECK(traffic(tight) < kBetween / 4);
}

TEST_CASE("memory size changes no bit of the results") {
  Net net = large_images();
  for (uint32_t tiles : {1u, 4u}) {
    INFO(tiles << " tiles");
    Simulated roomy = simulate(net, options(tiles), 1 << 20), tight = simulate(net, options(tiles), 64 << 10);
    REQUIRE(roomy.error == "");
    REQUIRE(tight.error == "");
    CHECK(tight.outputs == roomy.outputs);
  }
}

// A residual block of large images: three convolutions, and a shortcut that is the image itself or a
// projection of it. `stride`: of the block, so that a stripe of the shortcut has other rows than one of the
// chain.
Net residual_block(bool projection, int64_t stride) {
  Net net(11);
  ir::ValueId x = conv(net, net.input({1, 3, 96, 96}), 32, 3, 1);
  ir::ValueId y = conv(net, conv(net, x, 32, 3, stride), 32, 3, 1);
  ir::ValueId shortcut = projection ? net.layer("conv", "Conv", {x, net.constant({32, 32, 1, 1}, -0.2, 0.2)},
                                                {{"strides", Ints{stride, stride}}})
                                    : x;
  ir::ValueId last =
      net.layer("conv", "Conv", {y, net.constant({32, 32, 3, 3}, -0.1, 0.1)}, {{"pads", Ints{1, 1, 1, 1}}});
  ir::ValueId sum = net.epilogue("Add", {last, shortcut});
  net.output(conv(net, net.epilogue("Relu", {sum}), 8, 3, 2));
  return net;
}

TEST_CASE("stripes of residual blocks, with and without a projection, have the same bits") {
  for (auto [projection, stride] : {std::pair{false, int64_t{1}}, {true, int64_t{1}}, {true, int64_t{2}}}) {
    Net net = residual_block(projection, stride);
    Simulated roomy = simulate(net, options(8), 1 << 20);
    REQUIRE(roomy.error == "");
    for (uint32_t memory : {64u << 10, 112u << 10, 192u << 10}) {
      INFO("projection " << projection << ", stride " << stride << ", " << memory << " bytes");
      Simulated tight = simulate(net, options(4), memory);
      REQUIRE(tight.error == "");
      CHECK(tight.outputs == roomy.outputs);
    }
  }
  check(residual_block(true, 2), "residual block");
}

// Element-wise layers, a product with a channel's factor and a sum with an earlier image among them, between
// large convolutions; each value that may be a pair is one where `pairs` says so.
Net elementwise_between(bool pairs) {
  Net net(13);
  ir::ValueId x = conv(net, net.input({1, 3, 96, 90}), 24, 3, 1);
  ir::ValueId y = net.layer("elementwise", "Sigmoid", {x});
  y = net.layer("elementwise", "Mul", {y, net.constant({1, 24, 1, 1}, 0.5, 2)});
  y = conv(net, y, 24, 3, 1);
  y = net.layer("elementwise", "Mul", {net.layer("elementwise", "Tanh", {y}), x});
  net.output(conv(net, conv(net, y, 16, 5, 1), 8, 3, 2));
  if (!pairs) return net;
  const partition::PrecisionChoice choice(net.graph, net.region);
  const partition::Precision pair{partition::Precision::Kind::Pair, 0};
  for (ir::ValueId v : choice.values())
    if (!choice.obstacle(v, pair)) choice.set(net.region.precisions, v, pair);
  return net;
}

TEST_CASE("what the vector unit does between windows goes in stripes, too, with the same bits") {
  const auto traffic = [](const Simulated& s) { return s.report.ddr_read_bytes + s.report.ddr_write_bytes; };
  for (const bool pairs : {false, true}) {
    Net net = elementwise_between(pairs);
    const Simulated roomy = simulate(net, options(8), 4 << 20);
    REQUIRE(roomy.error == "");
    for (uint32_t memory : {64u << 10, 128u << 10, 256u << 10}) {
      INFO((pairs ? "pairs, " : "fp16, ")
           << memory << " bytes, " << traffic(roomy) << " of traffic with room");
      Simulated tight = simulate(net, options(4), memory);
      REQUIRE(tight.error == "");
      CHECK(tight.outputs == roomy.outputs);
      INFO(traffic(tight) << " without");
      // An image of 24 channels is 415 KB, written and read five times and more if it went through DDR. As
      // pairs the stripes of the whole run are too many rows at once.
      if (!pairs && memory == 256u << 10) CHECK(traffic(tight) < 2'000'000);
    }
  }
}

TEST_CASE("transposed convolutions and pools that stream have the rows around their blocks") {
  for (auto [kernel, stride, pad] : {std::array<int64_t, 3>{4, 2, 1}, {3, 2, 0}, {5, 3, 2}, {3, 1, 1}}) {
    Net net(12);
    ir::ValueId w = net.constant({24, 16, kernel, kernel}, -0.1, 0.1);
    ir::ValueId y =
        net.layer("conv_transpose", "ConvTranspose", {net.input({1, 24, 60, 52}), w, net.constant({16})},
                  {{"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}});
    ir::ValueId z =
        net.layer("pool", "MaxPool", {y},
                  {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
    net.output(y);
    net.output(z);
    Simulated roomy = simulate(net, options(8), 4 << 20);
    REQUIRE(roomy.error == "");
    for (uint32_t tiles : {1u, 8u}) {
      INFO("kernel " << kernel << ", stride " << stride << ", " << tiles << " tiles");
      Simulated tight = simulate(net, options(tiles), 32 << 10);
      REQUIRE(tight.error == "");
      CHECK(tight.outputs == roomy.outputs);
    }
    check_on(net, "streamed ConvTranspose", {2, 48 << 10});
  }
}

TEST_CASE("pixels that nobody reads are not computed") {
  auto network = [](bool all_read) {
    Net net(6);
    ir::ValueId y = conv(net, net.input({1, 32, 28, 28}), 64, 3, 1);
    net.output(conv(net, y, 64, 1, 2));
    net.output(conv(net, y, 32, 1, 2));
    if (all_read) net.output(y);
    return net;
  };
  constexpr uint64_t kFirst = 28 * 28 * 9 * 32 * 64, kReaders = 14 * 14 * 64 * (64 + 32);
  Simulated pruned = simulate(network(false), options(8)), whole = simulate(network(true), options(8));
  REQUIRE(pruned.error == "");
  REQUIRE(whole.error == "");
  CHECK(pruned.report.macs == kFirst / 4 + kReaders);
  CHECK(whole.report.macs == kFirst + kReaders);
  REQUIRE(whole.outputs.size() == 3);
  CHECK(pruned.outputs[0] == whole.outputs[0]);
  CHECK(pruned.outputs[1] == whole.outputs[1]);
  check(network(false), "pruned");
}

}  // namespace
}  // namespace mrvlc::accel_test
