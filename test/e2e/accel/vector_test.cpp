// Element-wise layers, reductions, softmax and normalisations.
#include <catch2/catch.hpp>
#include <cmath>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using Ints = std::vector<int64_t>;

TEST_CASE("binary operators broadcast") {
  const std::pair<Shape, Shape> shapes[] = {{{1, 20, 9, 11}, {1, 20, 9, 11}},
                                            {{2, 16, 5, 7}, {16, 1, 1}},
                                            {{3, 1, 40}, {1, 50, 1}},
                                            {{100000}, {1}},
                                            {{4, 5, 6, 7}, {7}}};
  for (const char* op : {"Add", "Sub", "Mul", "Max", "Min", "PRelu"})
    for (const auto& [a, b] : shapes) {
      if (std::string(op) == "PRelu" && a.size() != 4) continue;
      Net net(1);
      net.output(net.layer("elementwise", op, {net.input(a), net.input(b)}));
      check_on(net, op, {8, 1 << 20});
      check_on(net, op, {2, 64 << 10});
    }
}

TEST_CASE("operators with constants") {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min"})
    for (Shape c : {Shape{}, Shape{12, 1, 1}, Shape{1, 12, 10, 10}}) {
      Net net(2);
      ir::ValueId x = net.input({1, 12, 10, 10});
      net.output(net.layer("elementwise", op, {x, net.constant(c, 0.5, 2)}));
      check_on(net, op, {4, 64 << 10});
    }
  for (double e : {0.5, 2.0, 3.0}) {
    Net net(2);
    ir::ValueId x = net.layer("elementwise", "Abs", {net.input({3, 50})});
    net.output(net.layer("elementwise", "Pow", {x, net.values({}, {e})}));
    check(net, "Pow " + std::to_string(e));
  }
}

TEST_CASE("functions of one operand") {
  for (const char* op :
       {"Relu",    "LeakyRelu", "HardSigmoid", "HardSwish", "Abs",   "Neg",      "Floor",    "Ceil",
        "Sigmoid", "Tanh",      "Elu",         "Selu",      "Celu",  "Softplus", "Softsign", "Gelu",
        "Mish",    "Erf",       "Exp",         "Atan",      "Asinh", "Sinh",     "Cosh"}) {
    Net net(3);
    ir::ValueId x = net.layer("elementwise", "Mul", {net.input({2, 1000}), net.values({}, {4})});
    net.output(net.layer("elementwise", op, {x}));
    check_on(net, op, {8, 1 << 20});
  }
  for (const char* op : {"Sqrt", "Reciprocal", "Log"}) {
    Net net(3);
    ir::ValueId x = net.layer("elementwise", "Abs", {net.input({2, 500})});
    x = net.layer("elementwise", "Add", {x, net.values({}, {0.25})});
    net.output(net.layer("elementwise", op, {x}));
    check(net, op);
  }
  Net net(3);
  ir::ValueId x = net.input({1, 6, 7, 8});
  net.output(net.layer("elementwise", "Clip", {x, net.values({}, {-0.5}), net.values({}, {0.25})}));
  check(net, "Clip");
}

TEST_CASE("reductions") {
  struct Case {
    Shape shape;
    std::vector<double> axes;
    int64_t keep;
  };
  for (const char* op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"})
    for (const Case& c : {Case{{2, 10, 6, 7}, {2, 3}, 1}, Case{{2, 10, 6, 7}, {1}, 0},
                          Case{{40, 500}, {-1}, 1}, Case{{3, 4, 5}, {0, 2}, 0}, Case{{2, 60000}, {1}, 1}}) {
      Net net(4);
      ir::ValueId axes = net.values({static_cast<int64_t>(c.axes.size())}, c.axes, ElementType::I64);
      net.output(net.layer("reduce", op, {net.input(c.shape), axes}, {{"keepdims", c.keep}}));
      check(net, op, 0.02);
    }
}

TEST_CASE("softmax") {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (int64_t axis : {-1, 1}) {
      Net net(5);
      ir::ValueId x = net.layer("elementwise", "Mul", {net.input({2, 12, 50}), net.values({}, {6})});
      net.output(net.layer("softmax", op, {x}, {{"axis", axis}}));
      check(net, op);
    }
  Net net(5);
  net.output(net.layer("softmax", "Softmax", {net.input({1, 40000})}, {{"axis", int64_t{-1}}}));
  check(net, "a softmax larger than on-chip memory");
}

TEST_CASE("normalisations") {
  Net layer_norm(6);
  ir::ValueId x = layer_norm.input({2, 20, 96});
  layer_norm.output(layer_norm.layer("norm", "LayerNormalization",
                                     {x, layer_norm.constant({96}), layer_norm.constant({96})},
                                     {{"axis", int64_t{-1}}}));
  check(layer_norm, "LayerNormalization");
  for (int64_t size : {9, 120}) {
    Net net(6);
    x = net.input({2, 12, size, size});
    net.output(net.layer("norm", "InstanceNormalization", {x, net.constant({12}), net.constant({12})}));
    check(net, "InstanceNormalization", 0.02);
  }
  Net net(6);
  x = net.input({1, 24, 8, 8});
  net.output(
      net.layer("norm", "BatchNormalization",
                {x, net.constant({24}), net.constant({24}), net.constant({24}), net.constant({24}, 0.5, 2)}));
  check(net, "BatchNormalization");
}

}  // namespace
}  // namespace mrvlc::accel_test
