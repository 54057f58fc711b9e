// Convolutions, pooling and matrix products.
#include <catch2/catch.hpp>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

struct ConvCase {
  int64_t batch, in, out, group, h, w, kernel, stride, dilation, pad;
};

ir::ValueId conv(Net& net, ir::ValueId x, const ConvCase& c, bool bias = true) {
  double scale = 1.0 / static_cast<double>(c.in / c.group * c.kernel * c.kernel);
  double bound = 2 * std::sqrt(scale);
  ir::ValueId w = net.constant({c.out, c.in / c.group, c.kernel, c.kernel}, -bound, bound);
  std::vector<ir::ValueId> inputs = {x, w};
  if (bias) inputs.push_back(net.constant({c.out}));
  return net.layer("conv", "Conv", inputs,
                   {{"group", c.group},
                    {"strides", Ints{c.stride, c.stride}},
                    {"dilations", Ints{c.dilation, c.dilation}},
                    {"pads", Ints{c.pad, c.pad, c.pad, c.pad}}});
}

TEST_CASE("convolutions of many shapes") {
  const ConvCase cases[] = {{1, 3, 16, 1, 12, 12, 3, 1, 1, 1},   {1, 16, 32, 1, 14, 14, 1, 1, 1, 0},
                            {1, 24, 40, 1, 9, 13, 3, 2, 1, 1},   {2, 8, 20, 1, 7, 7, 3, 1, 2, 2},
                            {1, 64, 64, 1, 28, 28, 3, 1, 1, 1},  {1, 32, 32, 32, 16, 16, 3, 1, 1, 1},
                            {1, 20, 40, 20, 11, 11, 5, 2, 1, 2}, {1, 24, 48, 3, 10, 10, 3, 1, 1, 1},
                            {1, 3, 64, 1, 56, 56, 7, 2, 1, 3},   {1, 512, 96, 1, 4, 4, 3, 1, 1, 1},
                            {3, 33, 17, 1, 5, 6, 1, 2, 1, 0},    {1, 1, 8, 1, 40, 40, 5, 1, 1, 0},
                            {1, 2048, 24, 1, 3, 3, 1, 1, 1, 0},  {1, 48, 48, 1, 40, 40, 3, 1, 1, 0}};
  for (const ConvCase& c : cases) {
    Net net(7);
    net.output(conv(net, net.input({c.batch, c.in, c.h, c.w}), c));
    check(net,
          "conv " + std::to_string(c.in) + "->" + std::to_string(c.out) + " k" + std::to_string(c.kernel));
  }
}

TEST_CASE("random convolutions") {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    Net net(seed);
    ConvCase c{net.pick(1, 2),  net.pick(1, 40), net.pick(1, 50), 1,
               net.pick(5, 20), net.pick(5, 20), net.pick(1, 4),  net.pick(1, 3),
               net.pick(1, 2),  net.pick(0, 2)};
    if (seed % 4 == 0) {
      c.group = net.pick(2, 6);
      c.in = c.group * net.pick(1, 9);
      c.out = c.group * net.pick(1, 18);
    }
    c.h = std::max(c.h, (c.kernel - 1) * c.dilation + 1);
    c.w = std::max(c.w, (c.kernel - 1) * c.dilation + 1);
    net.output(conv(net, net.input({c.batch, c.in, c.h, c.w}), c, seed % 3 != 0));
    check(net, "random conv " + std::to_string(seed));
  }
}

TEST_CASE("an epilogue of bias, residual and activation") {
  Net net(3);
  ConvCase c{1, 16, 32, 1, 10, 10, 3, 1, 1, 1};
  ir::ValueId x = net.input({1, 16, 10, 10}), r = net.input({1, 32, 10, 10});
  ir::ValueId y = conv(net, x, c);
  y = net.epilogue("Mul", {y, net.constant({32, 1, 1})});
  y = net.epilogue("Add", {net.constant({1, 32, 1, 1}), y});
  y = net.epilogue("Add", {y, r});
  y = net.epilogue("Relu", {y});
  y = net.epilogue("Sigmoid", {y});
  net.output(y);
  check(net, "epilogue");
}

TEST_CASE("a constant that something is taken from, and one that is taken from something") {
  for (bool first : {false, true}) {
    Net net(3);
    ir::ValueId y = conv(net, net.input({1, 16, 10, 10}), {1, 16, 32, 1, 10, 10, 3, 1, 1, 1});
    ir::ValueId c = net.constant({1, 32, 1, 1}, 2, 3);
    y = first ? net.epilogue("Sub", {c, y}) : net.epilogue("Sub", {y, c});
    net.output(net.epilogue("Relu", {y}));
    check_on(net, first ? "c - x" : "x - c", {8, 1 << 20});
  }
}

TEST_CASE("a convolution of single pixels with a stride along a dimension of one") {
  for (bool rows : {false, true}) {
    Net net(6);
    ir::ValueId x = net.input(rows ? Shape{1, 16, 1, 9} : Shape{1, 16, 9, 1});
    net.output(net.layer("conv", "Conv", {x, net.constant({24, 16, 1, 1}, -0.4, 0.4)},
                         {{"strides", rows ? Ints{2, 1} : Ints{1, 2}}}));
    check_on(net, "strides", {8, 1 << 20});
  }
}

TEST_CASE("activations on the way out of the accumulators") {
  for (const char* op : {"Relu", "LeakyRelu", "HardSigmoid", "HardSwish", "Sigmoid", "Tanh", "Gelu", "Elu"}) {
    Net net(5);
    ir::ValueId y = conv(net, net.input({1, 8, 9, 9}), {1, 8, 24, 1, 9, 9, 3, 1, 1, 1});
    net.output(net.epilogue(op, {y}));
    check_on(net, op, {8, 1 << 20});
  }
}

TEST_CASE("convolution over one dimension") {
  Net net(4);
  ir::ValueId w = net.constant({24, 10, 5}, -0.2, 0.2);
  net.output(
      net.layer("conv", "Conv", {net.input({1, 10, 100}), w}, {{"strides", Ints{2}}, {"pads", Ints{2, 2}}}));
  check(net, "conv1d");
}

TEST_CASE("transposed convolutions") {
  struct Case {
    int64_t in, out, group, size, kernel, stride, pad, dilation;
  };
  for (Case c :
       {Case{8, 16, 1, 7, 3, 2, 1, 1}, Case{16, 8, 1, 9, 4, 2, 1, 1}, Case{6, 4, 2, 5, 2, 3, 0, 1},
        Case{4, 4, 1, 6, 3, 2, 0, 2}, Case{12, 12, 12, 6, 4, 2, 1, 1}, Case{64, 64, 1, 12, 3, 3, 1, 1}}) {
    Net net(9);
    ir::ValueId w = net.constant({c.in, c.out / c.group, c.kernel, c.kernel}, -0.3, 0.3);
    ir::ValueId y = net.layer("conv_transpose", "ConvTranspose",
                              {net.input({1, c.in, c.size, c.size}), w, net.constant({c.out})},
                              {{"group", c.group},
                               {"strides", Ints{c.stride, c.stride}},
                               {"dilations", Ints{c.dilation, c.dilation}},
                               {"pads", Ints{c.pad, c.pad, c.pad, c.pad}}});
    net.output(net.epilogue("Relu", {y}));
    check(net, "conv_transpose k" + std::to_string(c.kernel) + " s" + std::to_string(c.stride));
  }
}

TEST_CASE("a transposed convolution of single pixels") {
  Net net(9);
  ir::ValueId w = net.constant({9, 20, 1, 1}, -0.3, 0.3);
  net.output(net.layer("conv_transpose", "ConvTranspose", {net.input({4, 9, 1, 1}), w, net.constant({20})},
                       {{"strides", Ints{3, 2}}}));
  check(net, "stride beyond the output");
}

TEST_CASE("pooling") {
  for (const char* op : {"MaxPool", "AveragePool"})
    for (int64_t ceil : {0, 1})
      for (int64_t include : {0, 1}) {
        Net net(2);
        AttrList attrs = {{"kernel_shape", Ints{3, 2}},
                          {"strides", Ints{2, 2}},
                          {"pads", Ints{1, 0, 1, 1}},
                          {"ceil_mode", ceil}};
        if (std::string(op) == "AveragePool") attrs.emplace_back("count_include_pad", include);
        net.output(net.layer("pool", op, {net.input({2, 20, 14, 17})}, attrs));
        check(net, std::string(op) + " ceil " + std::to_string(ceil));
      }
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"}) {
    Net net(2);
    net.output(net.layer("pool", op, {net.input({1, 70, 20, 21})}));
    check(net, op);
  }
}

TEST_CASE("fully connected layers") {
  struct Case {
    int64_t m, k, n, trans;
  };
  for (Case c : {Case{1, 512, 1000, 1}, Case{1, 9000, 24, 0}, Case{37, 128, 70, 1}, Case{8, 16, 16, 0}}) {
    Net net(6);
    double bound = 2 / std::sqrt(static_cast<double>(c.k));
    Shape shape = c.trans ? Shape{c.n, c.k} : Shape{c.k, c.n};
    ir::ValueId y = net.layer(
        "fc", "Gemm", {net.input({c.m, c.k}), net.constant(shape, -bound, bound), net.constant({c.n})},
        {{"transB", c.trans}});
    net.output(net.epilogue("Relu", {y}));
    check(net, "gemm " + std::to_string(c.k) + "x" + std::to_string(c.n));
  }
  Net net(6);
  ir::ValueId y = net.layer("fc", "MatMul", {net.input({2, 20, 48}), net.constant({48, 40}, -0.3, 0.3)});
  y = net.epilogue("Add", {y, net.constant({40})});
  net.output(net.epilogue("Gelu", {y}));
  check(net, "matmul with constant weights");
}

TEST_CASE("windows of one pixel over some rows of each image") {
  Net net(10);
  auto ints = [&](double v) { return net.values({1}, {v}, ElementType::I64); };
  ir::ValueId x = net.layer("move", "Slice", {net.input({3, 16, 8, 5}), ints(1), ints(5), ints(2)});
  net.output(net.layer("conv", "Conv", {x, net.constant({24, 16, 1, 1}, -0.4, 0.4)}));
  check(net, "rows of a batch");
}

TEST_CASE("windows over a reversed slice") {
  auto reversed = [](Net& net, ir::ValueId x, double axis) {
    auto ints = [&](double v) { return net.values({1}, {v}, ElementType::I64); };
    return net.layer("move", "Slice", {x, ints(-1), ints(-1000), ints(axis), ints(-1)});
  };
  for (int axis : {1, 2, 3}) {
    Net net(10);
    ir::ValueId y = conv(net, reversed(net, net.input({1, 8, 9, 7}), axis), {1, 8, 12, 1, 9, 7, 3, 1, 1, 1});
    y = net.layer("pool", "MaxPool", {reversed(net, y, axis)}, {{"kernel_shape", Ints{2, 2}}});
    net.output(y);
    check(net, "axis " + std::to_string(axis));
  }
  for (int axis : {0, 1}) {
    Net net(10);
    ir::ValueId a = net.input({20, 16}), b = net.input({16, 33});
    net.output(net.layer("matmul", "MatMul", {reversed(net, a, axis), reversed(net, b, axis)}));
    check(net, "product, axis " + std::to_string(axis));
  }
}

TEST_CASE("products of two activations") {
  Net net(8);
  ir::ValueId a = net.input({2, 3, 20, 16}), b = net.input({2, 3, 16, 33});
  net.output(net.epilogue("Mul", {net.layer("matmul", "MatMul", {a, b}), net.values({}, {0.5})}));
  check(net, "matmul");
  Net shared(8);
  net = Net(8);
  a = net.input({4, 10, 300});
  b = net.input({300, 40});
  net.output(net.layer("matmul", "MatMul", {a, b}));
  check(net, "matmul with one right operand");
}

}  // namespace
}  // namespace mrvlc::accel_test
