// Reductions, extremes, the softmax family and normalisations.
#include <cmath>

#include "mrvlc/support/diag/ops.h"
#include "one_node.h"

namespace mrvlc::test {
namespace {

const Tensor kData = f32({2, 3}, {1, -2, 3, 4, 5, -6});

Operand axes(std::vector<int64_t> list) {
  auto n = static_cast<int64_t>(list.size());
  return {i64({n}, list), true};
}

TEST_CASE("reductions along the last axis") {
  check_close(result_of("ReduceSum", {{kData}, axes({-1})}), {2, 3});
  check_close(result_of("ReduceMean", {{kData}, axes({1})}), {2 / 3.0, 1});
  check_close(result_of("ReduceMax", {{kData}, axes({1})}), {3, 5});
  check_close(result_of("ReduceMin", {{kData}, axes({1})}), {-2, -6});
  check_close(result_of("ReduceProd", {{kData}, axes({1})}), {-6, -120});
  check_close(result_of("ReduceL1", {{kData}, axes({1})}), {6, 15});
  check_close(result_of("ReduceL2", {{kData}, axes({1})}), {std::sqrt(14), std::sqrt(77)});
  check_close(result_of("ReduceLogSum", {{kData}, axes({1})}), {std::log(2), std::log(3)});
  check_close(result_of("ReduceLogSumExp", {{kData}, axes({1})}), {3.13284523, 5.31327401});
  check_close(result_of("ReduceSumSquare", {{kData}, axes({1})}), {14, 77});
}

TEST_CASE("reductions along other axes, and of everything") {
  Tensor columns = result_of("ReduceSum", {{kData}, axes({0})}, {{"keepdims", int64_t{0}}});
  CHECK(columns.shape() == Shape{3});
  check_close(columns, {5, 3, -3});
  Tensor all = result_of("ReduceSum", {{kData}});
  CHECK(all.shape() == Shape{1, 1});
  check_close(all, {5});
  CHECK(result_of("ReduceSum", {{kData}}, {{"noop_with_empty_axes", int64_t{1}}}) == kData);
  Tensor cube = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  check_close(result_of("ReduceSum", {{cube}, axes({0, 2})}), {14, 22});
  check_close(result_of("ReduceLogSumExp", {{f32({2}, {1000, 1000})}}), {1000 + std::log(2)});
  CHECK(refusal_of("ReduceSum", {{kData}, axes({2})}) == DiagCode::MRV0206);
}

TEST_CASE("integers reduce exactly") {
  Tensor big = i64({2}, {INT64_MAX - 1, 1});
  CHECK(result_of("ReduceSum", {{big}}).as_int(0) == INT64_MAX);
  CHECK(result_of("ReduceMax", {{big}}).as_int(0) == INT64_MAX - 1);
  CHECK(result_of("ReduceMean", {{i32({2}, {3, 4})}}).as_int(0) == 3);
}

TEST_CASE("roots and logarithms of integers are truncated and saturate") {
  CHECK(result_of("ReduceL2", {{i32({2}, {3, 5})}}).as_int(0) == 5);
  CHECK(result_of("ReduceL2", {{i32({2}, {2000000000, 2000000000})}}).as_int(0) == INT32_MAX);
  CHECK(result_of("ReduceLogSum", {{i64({2}, {10, 10})}}).as_int(0) == 2);
  CHECK(result_of("ReduceLogSum", {{i32({2}, {1, -1})}}).as_int(0) == INT32_MIN);
  CHECK(result_of("ReduceLogSumExp", {{i32({3}, {-7, -7, -7})}}).as_int(0) == -5);
}

TEST_CASE("positions of extremes") {
  Tensor x = f32({2, 3}, {1, 3, 3, 7, 0, 0});
  CHECK(result_of("ArgMax", {{x}}, {{"axis", int64_t{1}}}) == i64({2, 1}, {1, 0}));
  CHECK(result_of("ArgMax", {{x}}, {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}) ==
        i64({2, 1}, {2, 0}));
  CHECK(result_of("ArgMin", {{x}}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}}) == i64({3}, {0, 1, 1}));
}

TEST_CASE("softmax family") {
  Tensor x = f32({1, 3}, {1, 2, 3});
  check_close(result_of("Softmax", {{x}}), {0.09003057, 0.24472847, 0.66524096});
  check_close(result_of("LogSoftmax", {{x}}), {-2.40760596, -1.40760596, -0.40760596});
  check_close(result_of("Hardmax", {{f32({2, 2}, {1, 1, 0, 2})}}), {1, 0, 0, 1});
  check_close(result_of("Softmax", {{f32({2, 1}, {1000, 1000})}}, {{"axis", int64_t{0}}}), {0.5, 0.5});
  Tensor cube = f32({1, 2, 2}, {0, 0, 0, 0});
  check_close(result_of("Softmax", {{cube}}, {{"axis", int64_t{1}}}), {0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("BatchNormalization") {
  Tensor x = f32({1, 2, 2}, {1, 3, 10, 20});
  std::vector<Operand> operands{
      {x}, {f32({2}, {2, 1})}, {f32({2}, {0.5, 0})}, {f32({2}, {1, 10})}, {f32({2}, {4, 25})}};
  check_close(result_of("BatchNormalization", operands, {{"epsilon", 0.0f}}), {0.5, 2.5, 0, 2});
  operands[1] = {f32({3}, {1, 1, 1})};
  CHECK(refusal_of("BatchNormalization", operands) == DiagCode::MRV0205);
}

TEST_CASE("InstanceNormalization and LayerNormalization") {
  Tensor x = f32({1, 2, 2}, {1, 3, 10, 20});
  check_close(
      result_of("InstanceNormalization", {{x}, {f32({2}, {1, 2})}, {f32({2}, {0, 1})}}, {{"epsilon", 0.0f}}),
      {-1, 1, -1, 3});
  check_close(
      result_of("LayerNormalization", {{x}, {f32({2}, {1, 2})}, {f32({2}, {0, 1})}}, {{"epsilon", 0.0f}}),
      {-1, 3, -1, 3});
  auto results = OneNode("LayerNormalization", {{x}, {f32({2}, {1, 1})}}, {{"epsilon", 0.0f}}, 3).run();
  REQUIRE(results.ok());
  CHECK(results.value()[1].shape() == Shape{1, 2, 1});
  check_close(results.value()[1], {2, 15});
  check_close(results.value()[2], {1, 0.2});
}

TEST_CASE("LpNormalization and LRN") {
  check_close(result_of("LpNormalization", {{f32({2, 2}, {3, 4, 0, 0})}}), {0.6, 0.8, 0, 0});
  check_close(result_of("LpNormalization", {{f32({2}, {1, -3})}}, {{"p", int64_t{1}}}), {0.25, -0.75});
  // alpha = size, beta = 1: x / (1 + sum of squares of the neighbours)
  AttrList attrs{{"size", int64_t{3}}, {"alpha", 3.0f}, {"beta", 1.0f}};
  check_close(result_of("LRN", {{f32({1, 3, 1}, {1, 2, 3})}}, attrs), {1 / 6.0, 2 / 15.0, 3 / 14.0});
}

}  // namespace
}  // namespace mrvlc::test
