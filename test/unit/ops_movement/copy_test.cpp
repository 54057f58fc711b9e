#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor f32(Shape shape) {
  return iota(ElementType::F32, std::move(shape));
}
Tensor of_elem(ElementType elem, Shape shape) {
  return random_tensor(elem, std::move(shape), 11);
}

Case transpose(Tensor x, Ints perm) {
  return Case("Transpose").set("perm", list(std::move(perm))).unknown(std::move(x));
}

}  // namespace

TEST_CASE("Transpose moves every element to its place") {
  REQUIRE(Case("Transpose").in(f32({2, 3})).value().to_ints() == Ints{0, 3, 1, 4, 2, 5});
  Tensor x = f32({2, 3, 4, 5}), y = transpose(x, {2, 0, 3, 1}).value();
  REQUIRE(y.shape() == Shape{4, 2, 5, 3});
  for (int64_t i = 0; i < 120; ++i) {
    int64_t a = i / 60, b = i / 20 % 3, c = i / 5 % 4, d = i % 5;
    REQUIRE(y.as_int(((c * 2 + a) * 5 + d) * 3 + b) == i);
  }
}

TEST_CASE("Concat and Split are inverse along every axis") {
  Tensor x = f32({2, 6, 3});
  for (int64_t axis : {0, 1, -1}) {
    int64_t dim = x.shape()[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
    Case split = Case("Split").set("axis", num(axis)).unknown(x).in(ints({1, dim - 1})).outputs(2);
    Case concat = Case("Concat").set("axis", num(axis)).in(split.value(0)).in(split.value(1));
    REQUIRE(concat.value() == x);
  }
  REQUIRE(Case("Split").set("num_outputs", num(3)).in(f32({7})).outputs(3).value(2).to_ints() == Ints{6});
  REQUIRE(Case("Split").in(f32({4})).outputs(2).value(1).to_ints() == Ints{2, 3});
}

TEST_CASE("Slice follows ONNX at the borders") {
  auto run = [](Ints start, Ints end, Ints axes, Ints step) {
    return Case("Slice")
        .in(f32({5}))
        .in(ints(start))
        .in(ints(end))
        .in(ints(axes))
        .in(ints(step))
        .value()
        .to_ints();
  };
  REQUIRE(run({1}, {4}, {0}, {2}) == Ints{1, 3});
  REQUIRE(run({-2}, {INT64_MAX}, {0}, {1}) == Ints{3, 4});
  REQUIRE(run({-1}, {INT64_MIN}, {-1}, {-1}) == Ints{4, 3, 2, 1, 0});
  REQUIRE(run({100}, {0}, {0}, {-2}) == Ints{4, 2});
  REQUIRE(run({3}, {2}, {0}, {1}).empty());
  REQUIRE(run({0}, {5}, {0}, {INT64_MAX}) == Ints{0});
  REQUIRE(run({4}, {INT64_MIN}, {0}, {INT64_MIN}) == Ints{4});
  REQUIRE(Case("Slice").in(f32({3, 4})).in(ints({1, 1})).in(ints({3, 3})).value().to_ints() ==
          Ints{5, 6, 9, 10});
}

TEST_CASE("Pad in every mode") {
  auto run = [](std::string mode, Ints pads) {
    return Case("Pad")
        .set("mode", text(std::move(mode)))
        .in(f32({4}))
        .in(ints(std::move(pads)))
        .value()
        .to_ints();
  };
  REQUIRE(run("constant", {1, 2}) == Ints{0, 0, 1, 2, 3, 0, 0});
  REQUIRE(run("reflect", {2, 3}) == Ints{2, 1, 0, 1, 2, 3, 2, 1, 0});
  REQUIRE(run("edge", {2, 1}) == Ints{0, 0, 0, 1, 2, 3, 3});
  REQUIRE(run("wrap", {3, 5}) == Ints{1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  REQUIRE(run("constant", {-1, -2}) == Ints{1});
  REQUIRE(run("reflect", {-1, 2}) == Ints{1, 2, 3, 2, 1});
  Case axes = Case("Pad").in(f32({2, 2})).in(ints({1, 0})).in(floats({}, {9})).in(ints({-1}));
  REQUIRE(axes.value().to_ints() == Ints{9, 0, 1, 9, 2, 3});
}

TEST_CASE("Expand, Tile and the depth permutations") {
  REQUIRE(Case("Expand").in(f32({2, 1})).in(ints({2, 1, 3})).value().to_ints() ==
          Ints{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  REQUIRE(Case("Tile").in(f32({2, 2})).in(ints({1, 2})).value().to_ints() == Ints{0, 1, 0, 1, 2, 3, 2, 3});
  Case dcr = Case("DepthToSpace").set("blocksize", num(2)).in(f32({1, 8, 1, 1}));
  REQUIRE(dcr.value().to_ints() == Ints{0, 2, 4, 6, 1, 3, 5, 7});
  REQUIRE(dcr.set("mode", text("CRD")).value().to_ints() == Ints{0, 1, 2, 3, 4, 5, 6, 7});
  Tensor x = f32({2, 3, 4, 6});
  Tensor deep = Case("SpaceToDepth").set("blocksize", num(2)).in(x).value();
  REQUIRE(deep.shape() == Shape{2, 12, 2, 3});
  REQUIRE(Case("DepthToSpace").set("blocksize", num(2)).in(deep).value() == x);
}

TEST_CASE("reshapes keep the elements and compute the shape") {
  auto shape = [](Case c) { return c.value().shape(); };
  REQUIRE(shape(Case("Reshape").in(f32({2, 3, 4})).in(ints({0, -1}))) == Shape{2, 12});
  REQUIRE(shape(Case("Reshape").set("allowzero", num(1)).in(f32({0, 3})).in(ints({3, 0}))) == Shape{3, 0});
  REQUIRE(shape(Case("Flatten").in(f32({2, 3, 4}))) == Shape{2, 12});
  REQUIRE(shape(Case("Flatten").set("axis", num(0)).in(f32({2, 3}))) == Shape{1, 6});
  REQUIRE(shape(Case("Flatten").set("axis", num(-1)).in(f32({2, 3, 4}))) == Shape{6, 4});
  REQUIRE(shape(Case("Squeeze").in(f32({1, 3, 1}))) == Shape{3});
  REQUIRE(shape(Case("Squeeze").in(f32({1, 3, 1})).in(ints({-1}))) == Shape{1, 3});
  REQUIRE(shape(Case("Unsqueeze").in(f32({3})).in(ints({-1, 0}))) == Shape{1, 3, 1});
}

TEST_CASE("generated code of data movement equals the reference for every width of element") {
  std::vector<Case> cases;
  for (ElementType elem : {ElementType::F32, ElementType::I8, ElementType::F16, ElementType::I64,
                           ElementType::Bool, ElementType::F64}) {
    Tensor x = of_elem(elem, {2, 3, 4, 6});
    cases.push_back(transpose(x, {0, 2, 3, 1}));
    cases.push_back(transpose(x, {3, 1, 0, 2}));
    cases.push_back(Case("Concat").set("axis", num(1)).unknown(x).unknown(of_elem(elem, {2, 2, 4, 6})));
    cases.push_back(Case("Concat").set("axis", num(3)).unknown(x).unknown(of_elem(elem, {2, 3, 4, 1})));
    cases.push_back(Case("Split").set("axis", num(2)).unknown(x).in(ints({1, 3})).outputs(2));
    cases.push_back(
        Case("Slice").unknown(x).in(ints({1, -1})).in(ints({3, -9})).in(ints({1, 3})).in(ints({1, -2})));
    cases.push_back(Case("Expand").unknown(of_elem(elem, {3, 1, 6})).in(ints({2, 3, 5, 6})));
    cases.push_back(Case("Tile").unknown(x).in(ints({2, 1, 3, 2})));
    cases.push_back(Case("DepthToSpace").set("blocksize", num(2)).unknown(of_elem(elem, {1, 8, 3, 5})));
    cases.push_back(Case("SpaceToDepth").set("blocksize", num(2)).unknown(x));
    cases.push_back(Case("Reshape").unknown(x).in(ints({-1})));
    cases.push_back(Case("Flatten").unknown(of_elem(elem, {})).set("axis", num(0)));
    for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
      cases.push_back(Case("Pad").set("mode", text(mode)).unknown(x).in(ints({0, 1, -1, 2, 0, 2, 1, 1})));
      cases.push_back(
          Case("Pad").set("mode", text(mode)).unknown(of_elem(elem, {2, 20})).in(ints({0, 3, 1, 2})));
    }
    Tensor value = of_elem(elem, {});
    cases.push_back(Case("Pad").unknown(x).in(ints({1, 0, 0, 0, 0, 0, 0, 1})).in(value));
    cases.push_back(Case("Pad").unknown(x).in(ints({1, 0, 0, 0, 0, 0, 0, 1})).unknown(value));
  }
  cases.push_back(transpose(of_elem(ElementType::F32, {37, 50}), {1, 0}));
  cases.push_back(transpose(of_elem(ElementType::U8, {2, 40, 17, 3}), {0, 2, 3, 1}));
  check_generated_code(cases, 0);
}

}  // namespace mrvlc::ops::test
