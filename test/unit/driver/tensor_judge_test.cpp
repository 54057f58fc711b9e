// What `mrvlc compare` says of a tensor of another runtime.
#include "debug/tensor_judge.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op.h"

using namespace mrvlc;
using driver::judge_alone;
using driver::judge_from_inputs;

namespace {

constexpr int64_t kDepth = 2000;

Tensor wave(const Shape& shape, double step) {
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(std::sin(step * static_cast<double>(i + 1)));
  return Tensor::of<double>(ElementType::F32, shape, values);
}

// y = x W.
struct Product {
  ir::Graph graph;
  ir::ValueId x, y;
  Tensor input = wave({1, kDepth}, 0.7);

  explicit Product(Tensor weights) {
    x = graph.add_input("x", input.type());
    const ir::ValueId w = graph.add_constant("w", std::move(weights));
    const auto n = graph.add_node(*ops::find_op("", "MatMul"), "fc", {x, w}, {},
                                  {TensorType{ElementType::F32, {1, 2}}}, {"y"}, {{}, {}, "import", {}});
    y = graph.node(n).outputs[0];
    graph.add_output(y);
  }
  Tensor result() const { return interp::run(graph, {input}).value().front(); }
  const ir::Node& node() const { return graph.node(graph.value(y).producer); }
};

}  // namespace

TEST_CASE("a weight that is off by 5 % in a sum of thousands shows in its node alone") {
  const Tensor weights = wave({kDepth, 2}, 1.3);
  Tensor wrong = weights;
  int64_t largest = 0;
  for (int64_t i = 0; i < wrong.elements(); ++i)
    if (std::abs(wrong.as_double(i)) > std::abs(wrong.as_double(largest))) largest = i;
  wrong.set_double(largest, 1.05 * wrong.as_double(largest));
  const Product right(weights);
  const Tensor theirs = Product(wrong).result();
  const auto operand = [&](ir::ValueId v) { return v == right.x ? &right.input : nullptr; };
  const auto alone = judge_alone(right.graph, right.node(), right.y, theirs, operand);
  REQUIRE(alone);
  CHECK_FALSE(alone->same());
  CHECK(judge_alone(right.graph, right.node(), right.y, right.result(), operand)->same());
  const auto unknown = [](ir::ValueId) -> const Tensor* { return nullptr; };
  CHECK_FALSE(judge_alone(right.graph, right.node(), right.y, theirs, unknown));
}

TEST_CASE("operands of another shape are no operands") {
  const Product p(wave({kDepth, 2}, 1.3));
  const Tensor other = wave({1, 3}, 1);
  const auto operand = [&](ir::ValueId) { return &other; };
  CHECK_FALSE(judge_alone(p.graph, p.node(), p.y, p.result(), operand));
}

TEST_CASE("small tensors are judged by their own size") {
  const auto of = [](double a, double b) { return Tensor::of<double>(ElementType::F32, {2}, {a, b}); };
  CHECK(judge_from_inputs(of(1.0005e-4, 0), of(1e-4, 0)).same());
  CHECK_FALSE(judge_from_inputs(of(1.1e-4, 0), of(1e-4, 0)).same());
  CHECK(judge_from_inputs(of(100.05, 1), of(100, 1)).same());
  CHECK(judge_from_inputs(of(100, 0.0005), of(100, 0)).same());
  CHECK_FALSE(judge_from_inputs(of(NAN, 1), of(1, 1)).same());
  CHECK(judge_from_inputs(of(INFINITY, 1), of(INFINITY, 1)).same());
}
