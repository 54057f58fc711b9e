#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor of(ElementType elem, Ints values, Shape shape = {}) {
  return Tensor::of(elem, std::move(shape), values);
}

}  // namespace

TEST_CASE("QuantizeLinear rounds to even and saturates") {
  Tensor x = floats({7}, {0.5, 1.5, -0.5, 1000, -1000, NAN, INFINITY});
  Case c = Case("QuantizeLinear").in(x).in(floats({}, {1}));
  REQUIRE(c.value().to_ints() == Ints{0, 2, 0, 255, 0, 0, 255});
  Case zero = Case("QuantizeLinear").in(x).in(floats({}, {0.5})).in(of(ElementType::I8, {-3}));
  REQUIRE(zero.value().to_ints() == Ints{-2, 0, -4, 127, -128, -128, 127});
}

TEST_CASE("DequantizeLinear per tensor, per axis and of int32") {
  Case all = Case("DequantizeLinear")
                 .in(of(ElementType::U8, {0, 128, 255}, {3}))
                 .in(floats({}, {0.5}))
                 .in(of(ElementType::U8, {128}));
  REQUIRE(all.value().to_doubles() == std::vector<double>{-64, 0, 63.5});
  Case axis = Case("DequantizeLinear")
                  .set("axis", num(0))
                  .in(of(ElementType::I8, {1, 2, 3, 4}, {2, 2}))
                  .in(floats({2}, {1, 10}));
  REQUIRE(axis.value().to_doubles() == std::vector<double>{1, 2, 30, 40});
  Case wide = Case("DequantizeLinear")
                  .in(of(ElementType::I32, {INT32_MIN, 7}, {2}))
                  .in(floats({}, {1}))
                  .in(of(ElementType::I32, {1}));
  REQUIRE(wide.value().to_doubles() == std::vector<double>{-2147483648.0, 6});
}

TEST_CASE("generated code of quantisation equals the reference bit by bit") {
  std::vector<Case> cases;
  std::vector<double> values{NAN, INFINITY, -INFINITY, 0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30};
  for (int i = 0; i < 400; ++i) values.push_back((i - 200) * 0.37);
  auto count = static_cast<int64_t>(values.size());
  for (ElementType elem : {ElementType::U8, ElementType::I8, ElementType::U16, ElementType::I16}) {
    Tensor x = floats({2, count / 2}, values), zero = of(elem, {7}), zeros = of(elem, {7, 100}, {2});
    cases.push_back(Case("QuantizeLinear").unknown(x).in(floats({}, {0.25})).in(zero));
    cases.push_back(
        Case("QuantizeLinear").set("axis", num(0)).unknown(x).in(floats({2}, {0.25, 0.001})).in(zeros));
    Tensor q = random_tensor(elem, {3, 2, 5}, 1);
    cases.push_back(Case("DequantizeLinear").unknown(q).in(floats({}, {0.3})).in(zero));
    cases.push_back(
        Case("DequantizeLinear").set("axis", num(-2)).unknown(q).in(floats({2}, {0.3, 0.7})).in(zeros));
  }
  cases.push_back(Case("DequantizeLinear")
                      .unknown(of(ElementType::I32, {INT32_MIN, INT32_MAX, 5}, {3}))
                      .in(floats({}, {0.3})));
  check_generated_code(cases, 0);
}

TEST_CASE("blocks of an axis have a scale each, the last block may be shorter") {
  Tensor x = floats({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), scale = floats({2, 3}, {1, 0.5, 2, 4, 1, 0.25});
  Case c = Case("QuantizeLinear").set("block_size", num(2)).set("axis", num(1)).unknown(x).in(scale);
  REQUIRE(c.value().to_ints() == Ints{1, 2, 6, 8, 2, 2, 2, 8, 9, 40});
  Tensor q = of(ElementType::I4, {1, 2, 3, 4, 5, 6, 7, -8, -7, -6}, {2, 5});
  Case d = Case("DequantizeLinear")
               .set("block_size", num(2))
               .unknown(q)
               .in(scale)
               .in(of(ElementType::I4, {1, 0, 0, 0, -1, 0}, {2, 3}));
  REQUIRE(d.value().to_doubles() == std::vector<double>{0, 1, 1.5, 2, 10, 24, 28, -7, -6, -1.5});
  Case rows = Case("QuantizeLinear")
                  .set("block_size", num(2))
                  .set("axis", num(0))
                  .unknown(x)
                  .in(floats({1, 5}, {1, 2, 1, 1, 5}));
  REQUIRE(rows.value().to_ints() == Ints{1, 1, 3, 4, 1, 6, 4, 8, 9, 2});
  check_generated_code({c, d, rows}, 0);
}

TEST_CASE("quantisation to less than eight bits") {
  Tensor x = floats({8}, {0, -0.0, 2.5, -30, 9, NAN, INFINITY, -INFINITY});
  std::vector<Case> cases;
  auto check = [&](ElementType elem, const std::vector<double>& expected) {
    Case c = Case("QuantizeLinear").set("output_dtype", elem).unknown(x).in(floats({}, {2}));
    CAPTURE(name(elem));
    REQUIRE(c.value().to_doubles() == expected);
    cases.push_back(c);
    cases.push_back(Case("DequantizeLinear").unknown(c.value()).in(floats({}, {0.5})));
  };
  check(ElementType::I4, {0, 0, 1, -8, 4, -8, 7, -8});
  check(ElementType::U4, {0, 0, 1, 0, 4, 0, 15, 0});
  check(ElementType::I2, {0, 0, 1, -2, 1, -2, 1, -2});
  check(ElementType::U2, {0, 0, 1, 0, 3, 0, 3, 0});
  check_generated_code(cases, 0);
}

TEST_CASE("quantisation to float8 and float4") {
  Tensor x = floats({6}, {0, -0.0, 2.5, -30, INFINITY, -2000});
  auto quantised = [&](ElementType elem, int64_t saturate) {
    return Case("QuantizeLinear")
        .set("output_dtype", elem)
        .set("saturate", num(saturate))
        .in(x)
        .in(floats({}, {2}))
        .value()
        .to_doubles();
  };
  CHECK(quantised(ElementType::F4E2M1, 1) == std::vector<double>{0, 0, 1, -6, 6, -6});  // 1.25 rounds to even
  CHECK(quantised(ElementType::F8E4M3FN, 1) == std::vector<double>{0, 0, 1.25, -15, 448, -448});
  CHECK(quantised(ElementType::F8E5M2, 0) == std::vector<double>{0, 0, 1.25, -16, INFINITY, -1024});
}

TEST_CASE("DynamicQuantizeLinear takes scale and zero point from the data") {
  Case c = Case("DynamicQuantizeLinear").in(floats({4}, {-1, 0, 1, 4})).outputs(3);
  REQUIRE(c.value(1).as_double(0) == static_cast<double>(5.0f / 255.0f));
  REQUIRE(c.value(2).as_int(0) == 51);
  REQUIRE(c.value(0).to_ints() == std::vector<int64_t>{0, 51, 102, 255});
  Case positive = Case("DynamicQuantizeLinear").in(floats({2}, {3, 6})).outputs(3);  // the range starts at 0
  REQUIRE(positive.value(0).to_ints() == std::vector<int64_t>{128, 255});
  Case zero = Case("DynamicQuantizeLinear").in(floats({2}, {0, 0})).outputs(3);
  REQUIRE(zero.value(1).as_double(0) == 1);
  REQUIRE(zero.value(0).to_ints() == std::vector<int64_t>{0, 0});
  std::vector<Case> cases;
  for (std::vector<double> values : {std::vector<double>{-1, 0.3, 1, 4},
                                     {3, 6, 7, 8},
                                     {-3, -6, -7, -0.01},
                                     {0, 0, 0, 0},
                                     {NAN, 1, -2, 5},
                                     {INFINITY, 1, -2, 5}}) {
    cases.push_back(Case("DynamicQuantizeLinear").unknown(floats({2, 2}, values)).outputs(3));
    cases.push_back(Case("DynamicQuantizeLinear").unknown(floats({4}, values)));
  }
  cases.push_back(
      Case("DynamicQuantizeLinear").unknown(random_tensor(ElementType::F32, {500}, 3)).outputs(3));
  check_generated_code(cases, 0);
}

TEST_CASE("quantisation refuses what it does not do") {
  Tensor x = floats({2, 4}, std::vector<double>(8));
  REQUIRE(Case("QuantizeLinear").in(x).in(floats({3}, {1, 1, 1})).refusal() == "MRV0205");
  REQUIRE(Case("QuantizeLinear").set("axis", num(2)).in(x).in(floats({4}, {1, 1, 1, 1})).refusal() ==
          "MRV0206");
  REQUIRE(Case("QuantizeLinear").set("block_size", num(2)).in(x).in(floats({}, {1})).refusal() == "MRV0205");
  REQUIRE(Case("QuantizeLinear").set("block_size", num(-2)).in(x).in(floats({}, {1})).refusal() == "MRV0204");
  REQUIRE(Case("QuantizeLinear").in(x).in(floats({}, {1})).in(of(ElementType::I32, {0})).refusal() ==
          "MRV0208");
  REQUIRE(Case("DequantizeLinear").in(x).in(floats({}, {1})).refusal() == "MRV0202");
}

}  // namespace mrvlc::ops::test
