// A residual block as ResNet-50 has them, end to end.
#include <catch2/catch.hpp>
#include <cmath>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

ir::ValueId conv(Net& net, ir::ValueId x, int64_t out, int64_t kernel, int64_t stride) {
  int64_t in = net.graph.value(x).type.shape[1], pad = kernel / 2;
  double bound = 1.7 / std::sqrt(static_cast<double>(in * kernel * kernel));
  return net.layer(
      "conv", "Conv",
      {x, net.constant({out, in, kernel, kernel}, -bound, bound), net.constant({out}, -0.1, 0.1)},
      {{"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}});
}

ir::ValueId bottleneck(Net& net, ir::ValueId x, int64_t width) {
  ir::ValueId y = conv(net, x, width, 1, 1);
  y = net.epilogue("Relu", {y});
  y = conv(net, y, width, 3, 1);
  y = net.epilogue("Relu", {y});
  y = conv(net, y, 4 * width, 1, 1);
  y = net.epilogue("Add", {y, x});
  return net.epilogue("Relu", {y});
}

TEST_CASE("a residual block") {
  for (uint32_t tiles : {1u, 2u, 4u, 8u}) {
    Net net(11);
    net.output(bottleneck(net, net.input({1, 256, 28, 28}), 64));
    check_on(net, "bottleneck", {tiles, 1 << 20});
    Run r = run(net, {tiles, 1 << 20});
    UNSCOPED_INFO("cycles " << r.cycles << ", bound " << r.bound);
    CHECK(r.cycles < 4 * r.bound);
  }
}

TEST_CASE("head and tail of a classifier") {
  Net net(12);
  ir::ValueId x = net.input({1, 3, 64, 64});
  ir::ValueId y = net.epilogue("Relu", {conv(net, x, 64, 7, 2)});
  y = net.layer("pool", "MaxPool", {y},
                {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  y = bottleneck(net, net.epilogue("Relu", {conv(net, y, 64, 1, 1)}), 16);
  y = net.layer("pool", "GlobalAveragePool", {y});
  y = net.layer("reshape", "Flatten", {y});
  y = net.layer("fc", "Gemm", {y, net.constant({64, 100}, -0.2, 0.2), net.constant({100})});
  net.output(net.layer("softmax", "Softmax", {y}));
  check(net, "classifier");
}

}  // namespace
}  // namespace mrvlc::accel_test
