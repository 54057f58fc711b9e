// Values of element-wise operators, by hand or by NumPy's definitions.
#include <cmath>
#include <limits>

#include "mrvlc/support/diag/ops.h"
#include "one_node.h"

namespace mrvlc::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("activations") {
  Tensor x = f32({5}, {-3, -0.5, 0, 0.5, 3});
  check_close(result_of("Relu", {{x}}), {0, 0, 0, 0.5, 3});
  check_close(result_of("LeakyRelu", {{x}}, {{"alpha", 0.1f}}), {-0.3, -0.05, 0, 0.5, 3});
  check_close(result_of("ThresholdedRelu", {{x}}, {{"alpha", 0.4f}}), {0, 0, 0, 0.5, 3});
  check_close(result_of("Sigmoid", {{x}}), {0.04742587, 0.37754067, 0.5, 0.62245933, 0.95257413});
  check_close(result_of("HardSigmoid", {{x}}), {0, 0.4, 0.5, 0.6, 1});
  check_close(result_of("HardSwish", {{x}}), {0, -0.20833333, 0, 0.29166667, 3});
  check_close(result_of("Elu", {{x}}, {{"alpha", 2.0f}}), {-1.90042586, -0.78693868, 0, 0.5, 3});
  check_close(result_of("Celu", {{x}}, {{"alpha", 2.0f}}), {-1.55373968, -0.44239843, 0, 0.5, 3});
  check_close(result_of("Selu", {{x}}), {-1.67056873, -0.69175820, 0, 0.52535051, 3.15210306});
  check_close(result_of("Softplus", {{x}}), {0.04858735, 0.47407698, 0.69314718, 0.97407698, 3.04858735});
  check_close(result_of("Softsign", {{x}}), {-0.75, -0.33333333, 0, 0.33333333, 0.75});
  check_close(result_of("Mish", {{x}}), {-0.14564739, -0.22074366, 0, 0.37524765, 2.98653500}, 1e-5);
  check_close(result_of("Gelu", {{x}}), {-0.00404969, -0.15426877, 0, 0.34573123, 2.99595031});
  check_close(result_of("Gelu", {{x}}, {{"approximate", std::string("tanh")}}),
              {-0.00363739, -0.15428599, 0, 0.34571401, 2.99636261});
  check_close(result_of("Swish", {{x}}), {-0.14227762, -0.18877033, 0, 0.31122967, 2.85772238});
  check_close(result_of("Shrink", {{x}}, {{"lambd", 0.4f}, {"bias", 0.25f}}), {-2.75, -0.25, 0, 0.25, 2.75});
  CHECK(refusal_of("Gelu", {{x}}, {{"approximate", std::string("erf")}}) == DiagCode::MRV0204);
}

TEST_CASE("a large Softplus does not overflow") {
  check_close(result_of("Softplus", {{f32({2}, {200, -200})}}), {200, 0});
}

TEST_CASE("NaN passes through Relu, Max and Clip") {
  Tensor x = f32({2}, {kNan, 1});
  check_close(result_of("Relu", {{x}}), {kNan, 1});
  check_close(result_of("Max", {{x}, {f32({}, {0})}}), {kNan, 1});
  check_close(result_of("Min", {{f32({}, {0})}, {x}}), {kNan, 0});
  check_close(result_of("Clip", {{x}, {f32({}, {0})}, {f32({}, {0.5})}}), {kNan, 0.5});
}

TEST_CASE("rounding and signs") {
  Tensor x = f32({6}, {-2.5, -1.5, -0.2, 0.5, 1.5, 2.5});
  check_close(result_of("Round", {{x}}), {-2, -2, 0, 0, 2, 2});
  check_close(result_of("Floor", {{x}}), {-3, -2, -1, 0, 1, 2});
  check_close(result_of("Ceil", {{x}}), {-2, -1, 0, 1, 2, 3});
  check_close(result_of("Sign", {{x}}), {-1, -1, -1, 1, 1, 1});
  check_close(result_of("Abs", {{i32({2}, {INT32_MIN, -7})}}), {INT32_MIN, 7});
  check_close(result_of("Neg", {{i32({2}, {INT32_MIN, -7})}}), {INT32_MIN, 7});
}

TEST_CASE("predicates") {
  Tensor x = f32({4}, {kNan, kInf, -kInf, 0});
  CHECK(result_of("IsNaN", {{x}}) == booleans({4}, {1, 0, 0, 0}));
  CHECK(result_of("IsInf", {{x}}) == booleans({4}, {0, 1, 1, 0}));
  CHECK(result_of("IsInf", {{x}}, {{"detect_positive", int64_t{0}}}) == booleans({4}, {0, 0, 1, 0}));
  CHECK(result_of("Not", {{booleans({2}, {1, 0})}}) == booleans({2}, {0, 1}));
}

TEST_CASE("operands broadcast in both directions") {
  Tensor column = f32({2, 1}, {1, 10}), row = f32({3}, {1, 2, 3});
  Tensor sum = result_of("Add", {{column}, {row}});
  CHECK(sum.shape() == Shape{2, 3});
  check_close(sum, {2, 3, 4, 11, 12, 13});
  check_close(result_of("Sub", {{row}, {column}}), {0, 1, 2, -9, -8, -7});
  Tensor channel = f32({2, 1, 1}, {1, 2}), image = f32({1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  check_close(result_of("Mul", {{image}, {channel}}), {1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(refusal_of("Add", {{f32({2}, {0, 0})}, {row}}) == DiagCode::MRV0205);
  CHECK(refusal_of("Add", {{row}, {i64({3}, {1, 2, 3})}}) == DiagCode::MRV0202);
}

TEST_CASE("an empty dimension gives an empty result") {
  Tensor y = result_of("Add", {{Tensor(TensorType{E::F32, {0, 3}})}, {f32({3}, {1, 2, 3})}});
  CHECK(y.shape() == Shape{0, 3});
}

TEST_CASE("integers wrap, truncate and never trap") {
  check_close(result_of("Add", {{i32({1}, {INT32_MAX})}, {i32({1}, {1})}}), {INT32_MIN});
  CHECK(result_of("Add", {{i64({1}, {INT64_MAX})}, {i64({1}, {1})}}).as_int(0) == INT64_MIN);
  CHECK(result_of("Div", {{i64({4}, {-7, 7, 5, INT64_MIN})}, {i64({4}, {2, -2, 0, -1})}}).to_ints() ==
        std::vector<int64_t>{-3, -3, 0, INT64_MIN});
  CHECK(result_of("Mod", {{i64({5}, {-7, 7, 5, 5, INT64_MIN})}, {i64({5}, {3, -3, 0, 3, -1})}}).to_ints() ==
        std::vector<int64_t>{2, -2, 0, 2, 0});
  CHECK(result_of("Mod", {{i64({2}, {-7, 7})}, {i64({2}, {3, -3})}}, {{"fmod", int64_t{1}}}).to_ints() ==
        std::vector<int64_t>{-1, 1});
  CHECK(refusal_of("Mod", {{f32({1}, {1})}, {f32({1}, {1})}}) == DiagCode::MRV0204);
  Tensor big = Tensor::of<uint64_t>(E::U64, {1}, {UINT64_MAX}), one = Tensor::of<uint64_t>(E::U64, {1}, {1});
  CHECK(result_of("Greater", {{big}, {one}}) == booleans({1}, {1}));
  CHECK(result_of("Div", {{big}, {Tensor::of<uint64_t>(E::U64, {1}, {2})}}).as_int(0) == INT64_MAX);
}

TEST_CASE("powers take exponents of another type") {
  check_close(result_of("Pow", {{f32({3}, {1, 2, 3})}, {i64({}, {2})}}), {1, 4, 9});
  CHECK(result_of("Pow", {{i64({3}, {2, -1, 3})}, {i64({3}, {10, -3, -1})}}).to_ints() ==
        std::vector<int64_t>{1024, -1, 0});
  CHECK(result_of("Pow", {{i32({2}, {4, 9})}, {f32({}, {0.5})}}).to_ints() == std::vector<int64_t>{2, 3});
}

TEST_CASE("variadic operators fold all operands") {
  Tensor a = f32({2}, {1, 8}), b = f32({1}, {4}), c = f32({2, 1}, {2, 16});
  check_close(result_of("Max", {{a}, {b}, {c}}), {4, 8, 16, 16});
  check_close(result_of("Min", {{a}, {b}, {c}}), {1, 2, 1, 4});
  check_close(result_of("Sum", {{a}, {b}, {c}}), {7, 14, 21, 28});
  check_close(result_of("Mean", {{a}, {b}, {c}}), {7 / 3.0, 14 / 3.0, 7, 28 / 3.0});
  check_close(result_of("Mean", {{a}}), {1, 8});
}

TEST_CASE("Clip bounds are optional") {
  Tensor x = f32({3}, {-2, 0.5, 2}), none;
  check_close(result_of("Clip", {{x}}), {-2, 0.5, 2});
  check_close(result_of("Clip", {{x}, {none}, {f32({}, {1})}}), {-2, 0.5, 1});
  check_close(result_of("Clip", {{i32({2}, {-9, 9})}, {i32({}, {0})}}), {0, 9});
  check_close(result_of("Clip", {{x}, {f32({}, {2})}, {f32({}, {1})}}), {1, 1, 1});
  CHECK(refusal_of("Clip", {{x}, {f32({2}, {0, 0})}}) == DiagCode::MRV0208);
}

TEST_CASE("PRelu broadcasts the slope only") {
  check_close(result_of("PRelu", {{f32({2, 2}, {-1, 1, -2, 2})}, {f32({2, 1}, {0.5, 0.25})}}),
              {-0.5, 1, -0.5, 2});
  CHECK(refusal_of("PRelu", {{f32({1}, {1})}, {f32({2}, {1, 1})}}) == DiagCode::MRV0205);
}

TEST_CASE("logic, bits and selection") {
  Tensor a = booleans({4}, {0, 0, 1, 1}), b = booleans({4}, {0, 1, 0, 1});
  CHECK(result_of("And", {{a}, {b}}) == booleans({4}, {0, 0, 0, 1}));
  CHECK(result_of("Or", {{a}, {b}}) == booleans({4}, {0, 1, 1, 1}));
  CHECK(result_of("Xor", {{a}, {b}}) == booleans({4}, {0, 1, 1, 0}));
  CHECK(result_of("Equal", {{a}, {b}}) == booleans({4}, {1, 0, 0, 1}));
  CHECK(result_of("Where", {{a}, {i64({4}, {1, 2, 3, 4})}, {i64({1}, {INT64_MAX})}}) ==
        i64({4}, {INT64_MAX, INT64_MAX, 3, 4}));
  Tensor bits = Tensor::of<int64_t>(E::U8, {3}, {1, 129, 3}), by = Tensor::of<int64_t>(E::U8, {3}, {3, 1, 8});
  CHECK(result_of("BitShift", {{bits}, {by}}, {{"direction", std::string("LEFT")}}) ==
        Tensor::of<int64_t>(E::U8, {3}, {8, 2, 0}));
  CHECK(result_of("BitShift", {{bits}, {by}}, {{"direction", std::string("RIGHT")}}) ==
        Tensor::of<int64_t>(E::U8, {3}, {0, 64, 0}));
  CHECK(refusal_of("BitShift", {{bits}, {by}}) == DiagCode::MRV0204);
  CHECK(result_of("BitwiseNot", {{Tensor::of<int64_t>(E::U8, {1}, {1})}}) ==
        Tensor::of<int64_t>(E::U8, {1}, {254}));
}

Tensor cast(const Tensor& x, E to) {
  return result_of("Cast", {{x}}, {{"to", to}});
}

TEST_CASE("Cast") {
  Tensor x = f32({6}, {-1.9, 1.9, 300, -300, kNan, 1e20});
  CHECK(cast(x, E::I8).to_ints() == std::vector<int64_t>{-1, 1, 127, -128, 0, 127});
  CHECK(cast(x, E::U8).to_ints() == std::vector<int64_t>{0, 1, 255, 0, 0, 255});
  CHECK(cast(x, E::I64).to_ints() == std::vector<int64_t>{-1, 1, 300, -300, 0, INT64_MAX});
  CHECK(cast(f32({3}, {0, 0.5, kNan}), E::Bool) == booleans({3}, {0, 1, 1}));
  CHECK(cast(i64({2}, {257, -1}), E::U8).to_ints() == std::vector<int64_t>{1, 255});
  CHECK(cast(f32({1}, {1e6}), E::F16).as_double(0) == kInf);
  CHECK(cast(Tensor::of<uint64_t>(E::U64, {1}, {UINT64_MAX}), E::F32).as_double(0) == 0x1p64);
}

TEST_CASE("half precision is computed wide and rounded once") {
  Tensor a = Tensor::of<double>(E::F16, {2}, {2048, 0.1}), b = Tensor::of<double>(E::F16, {}, {1});
  Tensor sum = result_of("Add", {{a}, {b}});
  CHECK(sum.elem() == E::F16);
  CHECK(sum.as_double(0) == 2048);  // ties to even
}

TEST_CASE("Identity and Dropout pass the data on") {
  Tensor x = f32({2}, {1, 2});
  CHECK(result_of("Identity", {{x}}) == x);
  auto results = OneNode("Dropout", {{x}}, {}, 2).run();
  REQUIRE(results.ok());
  CHECK(results.value()[0] == x);
  CHECK(results.value()[1] == booleans({2}, {1, 1}));
}

}  // namespace
TEST_CASE("QuickGelu of com.microsoft") {
  const ops::OpDef* op = ops::find_op("com.microsoft", "QuickGelu");
  REQUIRE(op != nullptr);
  for (double x : {-3.0, 0.0, 2.0}) {
    const double expected = x / (1 + std::exp(-static_cast<double>(1.702f) * x));
    CHECK(op->scalar->eval(&x, *op, ir::default_attrs(*op)) == Approx(expected));
  }
}

}  // namespace mrvlc::test
