// Values asked to be kept more exactly than fp16: what that gains, and that it does so on every machine.
#include <catch2/catch.hpp>

#include "harness.h"

namespace mrvlc::accel_test {
namespace {

using partition::Precision;

// Every activation and every weight that can be.
void ask(Net& net, const Precision& precision) {
  const partition::PrecisionChoice choice(net.graph, net.region);
  for (ir::ValueId v : choice.values())
    for (const Precision& p : {precision, Precision{precision.kind, 0}})
      if (!choice.obstacle(v, p)) {
        choice.set(net.region.precisions, v, p);
        break;
      }
}

Net image_network() {
  Net net(3);
  ir::ValueId x = net.input({1, 12, 20, 20});
  ir::ValueId a = net.layer("conv", "Conv", {x, net.constant({24, 12, 3, 3}, -0.2, 0.2), net.constant({24})},
                            {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  a = net.epilogue("Relu", {a});
  ir::ValueId d = net.layer("conv", "Conv", {a, net.constant({24, 1, 3, 3}, -0.4, 0.4)},
                            {{"group", int64_t{24}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  ir::ValueId p = net.layer("conv", "Conv", {d, net.constant({24, 24, 1, 1}, -0.3, 0.3)});
  p = net.epilogue("Add", {p, a});
  p = net.epilogue("Relu", {p});
  ir::ValueId m = net.layer("pool", "MaxPool", {p},
                            {{"kernel_shape", std::vector<int64_t>{3, 3}},
                             {"strides", std::vector<int64_t>{2, 2}},
                             {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  ir::ValueId g =
      net.layer("conv", "Conv", {m, net.constant({16, 12, 1, 1}, -0.3, 0.3)}, {{"group", int64_t{2}}});
  ir::ValueId c = net.layer("concat", "Concat", {g, m}, {{"axis", int64_t{1}}});
  ir::ValueId f = net.layer("reshape", "Flatten", {c});
  net.output(net.layer("fc", "Gemm", {f, net.constant({4000, 10}, -0.05, 0.05), net.constant({10})}));
  return net;
}

Net attention() {
  Net net(4);
  ir::ValueId q = net.input({2, 24, 16}), k = net.input({2, 24, 16}), v = net.input({2, 24, 16});
  ir::ValueId t = net.layer("move", "Transpose", {k}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  ir::ValueId s = net.layer("matmul", "MatMul", {q, t});
  ir::ValueId w = net.layer("softmax", "Softmax", {s}, {{"axis", int64_t{-1}}});
  net.output(net.layer("matmul", "MatMul", {w, v}));
  return net;
}

}  // namespace

TEST_CASE("pairs keep some twenty bits through windows, sums and products") {
  Net net = image_network();
  const double half = run(net, {}).worst;
  ask(net, {Precision::Kind::Pair, 0});
  CHECK(half > 1e-4);
  check(net, "pairs", 1e-5);
}

TEST_CASE("pairs of operands that are both computed") {
  Net net = attention();
  ask(net, {Precision::Kind::Pair, 0});
  check(net, "attention", 2e-4);  // of the table of Softmax
}

TEST_CASE("a power of two holds what is beyond fp16") {
  for (Precision p : {Precision{Precision::Kind::Half, 8}, Precision{Precision::Kind::Pair, 8},
                      Precision{Precision::Kind::Pair, 24}}) {
    Net net(5);
    ir::ValueId x = net.input({1, 16, 8, 8});
    ir::ValueId large = net.layer("elementwise", "Mul", {x, net.values({}, {1e6})});
    ir::ValueId y = net.layer("conv", "Conv", {large, net.constant({16, 16, 1, 1}, -0.3, 0.3)});
    y = net.epilogue("Relu", {y});
    net.output(net.layer("elementwise", "Mul", {y, net.values({}, {1e-6})}));
    net.region.precisions = {{large, p}, {y, p}};
    check(net, to_text(p), p.kind == Precision::Kind::Pair && p.shift == 8 ? 1e-3 : 2e-3);
  }
}

TEST_CASE("logarithms of what is beyond the square of 65504") {
  Net net(6);
  ir::ValueId x = net.input({8, 32});
  ir::ValueId a = net.layer("elementwise", "Mul", {x, net.values({}, {4e6})});
  ir::ValueId square = net.layer("elementwise", "Mul", {a, a});
  ir::ValueId y = net.layer("fc", "MatMul", {square, net.constant({32, 16}, 0, 1)});
  y = net.epilogue("Log", {y});
  net.output(y);
  net.region.precisions = {{square, {Precision::Kind::Pair, 30}}, {y, {Precision::Kind::Pair, 0}}};
  check(net, "logarithm", 1e-3);
}

}  // namespace mrvlc::accel_test
