#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor scalar(ElementType elem, double v) {
  return Tensor::of<double>(elem, {}, {v});
}
Case range(ElementType elem, double a, double b, double c) {
  return Case("Range").in(scalar(elem, a)).in(scalar(elem, b)).in(scalar(elem, c));
}
Tensor f32(Shape shape) {
  return iota(ElementType::F32, std::move(shape));
}

}  // namespace

TEST_CASE("Constant takes each of its attributes") {
  REQUIRE(Case("Constant").set("value", ir::Attr(f32({2, 2}))).value() == f32({2, 2}));
  REQUIRE(Case("Constant").set("value_int", num(7)).value().to_ints() == Ints{7});
  REQUIRE(Case("Constant").set("value_ints", list({7, 8})).value() == ints({7, 8}));
  REQUIRE(Case("Constant").set("value_float", ir::Attr(1.5f)).value().to_doubles() ==
          std::vector<double>{1.5});
  REQUIRE(Case("Constant").set("value_floats", ir::Attr(std::vector<float>{1, 2})).value().shape() ==
          Shape{2});
  REQUIRE(Case("Constant").set("value_string", text("a")).value().string_data() ==
          std::vector<std::string>{"a"});
  REQUIRE(Case("Constant").refusal() == "MRV0208");
  REQUIRE(Case("Constant").set("value_int", num(7)).set("value_float", ir::Attr(1.0f)).refusal() ==
          "MRV0204");
}

TEST_CASE("Shape, Size, Range, ConstantOfShape, EyeLike and NonZero by hand") {
  REQUIRE(Case("Shape").unknown(f32({2, 3, 4})).value().to_ints() == Ints{2, 3, 4});
  REQUIRE(Case("Shape").set("start", num(-2)).set("end", num(-1)).unknown(f32({2, 3, 4})).value().to_ints() ==
          Ints{3});
  REQUIRE(Case("Shape").set("start", num(9)).unknown(f32({2})).value().to_ints().empty());
  REQUIRE(Case("Size").unknown(f32({2, 3})).value().to_ints() == Ints{6});
  REQUIRE(range(ElementType::I64, 3, 9, 3).value().to_ints() == Ints{3, 6});
  REQUIRE(range(ElementType::I32, 10, 6, -3).value().to_ints() == Ints{10, 7});
  REQUIRE(range(ElementType::F32, 0, 1, 0.4).value().elements() == 3);
  REQUIRE(range(ElementType::F32, 1, 0, 1).value().elements() == 0);
  REQUIRE(Case("ConstantOfShape").in(ints({2, 2})).value() == floats({2, 2}, {0, 0, 0, 0}));
  Case filled = Case("ConstantOfShape").set("value", ir::Attr(ints({-3}))).in(ints({3}));
  REQUIRE(filled.value().to_ints() == Ints{-3, -3, -3});
  REQUIRE(Case("EyeLike").set("k", num(1)).in(f32({2, 3})).value().to_ints() == Ints{0, 1, 0, 0, 0, 1});
  REQUIRE(Case("EyeLike")
              .set("k", num(-1))
              .set("dtype", ir::Attr(ElementType::I8))
              .in(f32({3, 2}))
              .value()
              .to_ints() == Ints{0, 0, 1, 0, 0, 1});
  REQUIRE(Case("NonZero").in(floats({2, 2}, {1, 0, 2, 3})).value().to_ints() == Ints{0, 1, 1, 0, 0, 1});
  REQUIRE(Case("NonZero").unknown(f32({2})).refusal().empty());
}

TEST_CASE("generated code of constants equals the reference") {
  std::vector<Case> cases;
  cases.push_back(Case("Constant").set("value", ir::Attr(random_tensor(ElementType::F16, {3, 5}, 1))));
  cases.push_back(Case("Constant").set("value_ints", list({INT64_MIN, INT64_MAX, 0})));
  cases.push_back(Case("ConstantOfShape")
                      .set("value", ir::Attr(Tensor::of<int64_t>(ElementType::I8, {1}, {-128})))
                      .in(ints({3, 4})));
  cases.push_back(Case("Shape").unknown(f32({2, 3, 4})));
  cases.push_back(Case("Size").unknown(f32({2, 3, 4})));
  cases.push_back(range(ElementType::I64, -5, 40, 7));
  cases.push_back(range(ElementType::I16, 5, -40, -7));
  cases.push_back(range(ElementType::F32, -1, 2, 0.3));
  cases.push_back(Case("EyeLike").set("k", num(-1)).unknown(f32({4, 3})));
  cases.push_back(Case("NonZero").in(floats({2, 2}, {1, 0, 2, 3})));
  check_generated_code(cases);
}

}  // namespace mrvlc::ops::test
