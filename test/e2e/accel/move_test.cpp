// Layers that move elements, and the views they leave behind.
#include <catch2/catch.hpp>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

ir::ValueId ints(Net& net, const std::vector<double>& v) {
  return net.values({static_cast<int64_t>(v.size())}, v, ElementType::I64);
}

TEST_CASE("transposition") {
  for (Ints perm : {Ints{0, 2, 3, 1}, Ints{3, 2, 1, 0}, Ints{0, 1, 3, 2}, Ints{1, 0, 2, 3}}) {
    Net net(1);
    ir::ValueId x = net.layer("move", "Transpose", {net.input({2, 30, 17, 9})}, {{"perm", perm}});
    net.output(net.layer("elementwise", "Relu", {x}));
    check(net, "Transpose");
  }
  Net net(1);
  net.output(net.layer("move", "Transpose", {net.input({300, 70})}, {{"perm", Ints{1, 0}}}));
  check(net, "Transpose to an output", 0);
}

TEST_CASE("slices and splits") {
  Net net(2);
  ir::ValueId x = net.input({1, 12, 20, 30});
  ir::ValueId s = net.layer(
      "move", "Slice",
      {x, ints(net, {1, 17, 2}), ints(net, {11, -100, 29}), ints(net, {1, 2, 3}), ints(net, {2, -3, 1})});
  net.output(s);
  check(net, "Slice", 0);
  Net parts(2);
  x = parts.input({2, 10, 12});
  parts.layer("move", "Split", {x, ints(parts, {4, 1, 5})}, {{"axis", int64_t{1}}}, 3);
  auto outputs = parts.graph.node(parts.region.layers.back().anchor).outputs;
  parts.output(parts.layer("elementwise", "Add", {outputs[0], outputs[1]}));
  parts.output(outputs[2]);
  check(parts, "Split");
}

TEST_CASE("padding, tiling and expansion") {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    Net net(3);
    ir::ValueId x = net.input({1, 5, 8, 9});
    net.output(net.layer("move", "Pad", {x, ints(net, {0, 1, 2, 3, 0, 0, 1, 2}), net.values({}, {0.5})},
                         {{"mode", std::string(mode)}}));
    check(net, mode, 0);
  }
  Net tile(3);
  tile.output(tile.layer("move", "Tile", {tile.input({2, 5, 6}), ints(tile, {1, 3, 2})}));
  check(tile, "Tile", 0);
  Net expand(3);
  expand.output(expand.layer("move", "Expand", {expand.input({1, 5, 1}), ints(expand, {4, 1, 20})}));
  check(expand, "Expand", 0);
}

TEST_CASE("blocks of space and depth") {
  for (const char* mode : {"DCR", "CRD"}) {
    Net net(4);
    net.output(net.layer("move", "DepthToSpace", {net.input({1, 36, 5, 7})},
                         {{"blocksize", int64_t{3}}, {"mode", std::string(mode)}}));
    check(net, mode, 0);
  }
  Net net(4);
  net.output(net.layer("move", "SpaceToDepth", {net.input({1, 6, 8, 10})}, {{"blocksize", int64_t{2}}}));
  check(net, "SpaceToDepth", 0);
}

TEST_CASE("concatenation in place and by copies") {
  Net net(5);
  ir::ValueId x = net.input({1, 16, 9, 9});
  ir::ValueId a = net.layer("conv", "Conv", {x, net.constant({24, 16, 1, 1}, -0.3, 0.3)});
  ir::ValueId b =
      net.layer("conv", "Conv", {x, net.constant({10, 16, 3, 3}, -0.1, 0.1)}, {{"pads", Ints{1, 1, 1, 1}}});
  ir::ValueId y = net.layer("concat", "Concat", {a, x, b, a}, {{"axis", int64_t{1}}});
  net.output(net.layer("elementwise", "Relu", {y}));
  check(net, "Concat");
}

TEST_CASE("a value in several concatenations has one place and copies") {
  using Order = std::vector<int>;
  // Positions of the three values in two concatenations.
  for (const auto& [first, second] : {std::pair<Order, Order>{{0, 1}, {0, 2}},
                                      {{0, 1, 2}, {1, 0}},
                                      {{1, 0}, {0, 0, 2}},
                                      {{2, 1, 0}, {2, 1, 0}}}) {
    for (int64_t axis : {1, 2}) {
      Net net(15);
      ir::ValueId x = net.input({1, 16, 8, 8});
      std::vector<ir::ValueId> parts;
      for (int i = 0; i < 3; ++i)
        parts.push_back(net.layer("conv", "Conv", {x, net.constant({12, 16, 1, 1}, -0.3, 0.3)}));
      auto joined = [&](const Order& order) {
        std::vector<ir::ValueId> operands;
        for (int i : order) operands.push_back(parts[static_cast<size_t>(i)]);
        return net.layer("concat", "Concat", operands, {{"axis", axis}});
      };
      ir::ValueId a = joined(first), b = joined(second);
      net.output(net.layer("elementwise", "Relu", {a}));
      net.output(net.layer("elementwise", "Neg", {b}));
      net.output(net.layer("elementwise", "Abs", {parts[0]}));
      check(net, "two Concats along axis " + std::to_string(axis));
    }
  }
}

TEST_CASE("concatenations of concatenations, and of what leaves the region") {
  Net net(16);
  ir::ValueId x = net.input({1, 16, 8, 8});
  auto conv = [&](int64_t channels) {
    return net.layer("conv", "Conv", {x, net.constant({channels, 16, 1, 1}, -0.3, 0.3)});
  };
  ir::ValueId a = conv(8), b = conv(24), c = conv(5);
  ir::ValueId inner = net.layer("concat", "Concat", {a, b}, {{"axis", int64_t{1}}});
  ir::ValueId outer = net.layer("concat", "Concat", {inner, c, inner}, {{"axis", int64_t{1}}});
  ir::ValueId other = net.layer("concat", "Concat", {inner, b}, {{"axis", int64_t{1}}});
  net.output(inner);
  net.output(b);
  net.output(outer);
  net.output(net.layer("elementwise", "Relu", {other}));
  check(net, "nested Concats");
}

TEST_CASE("changes of shape") {
  Net net(6);
  ir::ValueId x = net.input({2, 12, 6, 5});
  x = net.layer("pool", "MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}});
  ir::ValueId flat = net.layer("reshape", "Flatten", {x});
  net.output(net.layer("fc", "Gemm", {flat, net.constant({240, 20}, -0.2, 0.2)}));
  net.output(net.layer("elementwise", "Relu", {net.layer("reshape", "Reshape", {x, ints(net, {2, 3, 80})})}));
  check(net, "Flatten before a product");
}

TEST_CASE("resizing") {
  struct Case {
    const char *mode, *coordinates;
    double h, w;
  };
  for (Case c : {Case{"nearest", "asymmetric", 2, 2}, Case{"nearest", "half_pixel", 1.5, 0.6},
                 Case{"linear", "half_pixel", 2, 2}, Case{"linear", "align_corners", 1.7, 3},
                 Case{"linear", "asymmetric", 0.5, 2}}) {
    Net net(7);
    ir::ValueId x = net.input({1, 20, 10, 11});
    net.output(net.layer(
        "resize", "Resize", {x, ir::ValueId(), net.values({4}, {1, 1, c.h, c.w})},
        {{"mode", std::string(c.mode)}, {"coordinate_transformation_mode", std::string(c.coordinates)}}));
    check(net, std::string(c.mode) + " " + c.coordinates);
  }
}

}  // namespace
}  // namespace mrvlc::accel_test
