#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor f32(Shape shape) {
  return iota(ElementType::F32, std::move(shape));
}
Tensor index(Shape shape, Ints values, ElementType elem = ElementType::I64) {
  return Tensor::of(elem, std::move(shape), values);
}

}  // namespace

TEST_CASE("Gather, GatherElements and GatherND by hand") {
  Tensor x = f32({3, 2});
  REQUIRE(Case("Gather").in(x).in(index({2}, {2, -3})).value().to_ints() == Ints{4, 5, 0, 1});
  REQUIRE(Case("Gather").set("axis", num(1)).in(x).in(index({}, {1})).value().to_ints() == Ints{1, 3, 5});
  REQUIRE(Case("GatherElements").set("axis", num(1)).in(x).in(index({2, 1}, {1, -2})).value().to_ints() ==
          Ints{1, 2});
  REQUIRE(Case("GatherND").in(x).in(index({2, 2}, {0, 1, -1, 0})).value().to_ints() == Ints{1, 4});
  REQUIRE(Case("GatherND")
              .set("batch_dims", num(1))
              .in(f32({2, 2, 2}))
              .in(index({2, 1}, {1, 0}))
              .value()
              .to_ints() == Ints{2, 3, 4, 5});
}

TEST_CASE("Scatter writes and combines, later updates last") {
  Tensor x = f32({3}), updates = floats({2}, {10, 20});
  auto elements = [&](std::string mode) {
    Case c = Case("ScatterElements").set("reduction", text(std::move(mode)));
    return c.in(x).in(index({2}, {1, -2})).in(updates).value().to_ints();
  };
  REQUIRE(elements("none") == Ints{0, 20, 2});
  REQUIRE(elements("add") == Ints{0, 31, 2});
  REQUIRE(elements("mul") == Ints{0, 200, 2});
  REQUIRE(elements("max") == Ints{0, 20, 2});
  REQUIRE(elements("min") == Ints{0, 1, 2});
  Case nd = Case("ScatterND").in(f32({2, 2})).in(index({1, 1}, {1})).in(floats({1, 2}, {7, 8}));
  REQUIRE(nd.value().to_ints() == Ints{0, 1, 7, 8});
}

TEST_CASE("an index out of range is an error of the reference") {
  Tensor x = f32({3, 2});
  REQUIRE_FALSE(Case("Gather").in(x).in(index({1}, {3})).eval().ok());
  REQUIRE_FALSE(Case("Gather").in(x).in(index({1}, {-4})).eval().ok());
  REQUIRE_FALSE(Case("GatherElements").in(x).in(index({1, 1}, {INT64_MAX})).eval().ok());
  REQUIRE_FALSE(Case("GatherND").in(x).in(index({1, 1}, {INT64_MIN})).eval().ok());
  REQUIRE_FALSE(Case("ScatterND").in(x).in(index({1, 1}, {3})).in(f32({1, 2})).eval().ok());
}

TEST_CASE("OneHot, TopK, CumSum and Trilu by hand") {
  Case one_hot = Case("OneHot").in(index({3}, {1, -1, 5})).in(index({}, {3})).in(floats({2}, {0, 1}));
  REQUIRE(one_hot.value().to_ints() == Ints{0, 1, 0, 0, 0, 1, 0, 0, 0});
  REQUIRE(one_hot.set("axis", num(0)).value().to_ints() == Ints{0, 0, 0, 1, 0, 0, 0, 1, 0});
  Case top = Case("TopK").in(floats({5}, {3, 1, 4, 4, 2})).in(ints({3}));
  REQUIRE(top.value(0).to_ints() == Ints{4, 4, 3});
  REQUIRE(top.value(1).to_ints() == Ints{2, 3, 0});
  REQUIRE(top.set("largest", num(0)).value(1).to_ints() == Ints{1, 4, 0});
  auto sums = [](int64_t exclusive, int64_t reverse) {
    Case c = Case("CumSum").set("exclusive", num(exclusive)).set("reverse", num(reverse));
    return c.in(floats({3}, {1, 2, 3})).in(index({}, {0})).value().to_ints();
  };
  REQUIRE(sums(0, 0) == Ints{1, 3, 6});
  REQUIRE(sums(1, 0) == Ints{0, 1, 3});
  REQUIRE(sums(0, 1) == Ints{6, 5, 3});
  REQUIRE(sums(1, 1) == Ints{5, 3, 0});
  REQUIRE(Case("Trilu").in(floats({2, 2}, {1, 2, 3, 4})).value().to_ints() == Ints{1, 2, 0, 4});
  REQUIRE(Case("Trilu")
              .set("upper", num(0))
              .in(floats({2, 2}, {1, 2, 3, 4}))
              .in(index({}, {-1}))
              .value()
              .to_ints() == Ints{0, 0, 3, 0});
}

// More elements than are sorted by insertion, in orders that fill the list of the best again and again; with
// equal ones, and what is no number.
TEST_CASE("generated code of TopK of many elements equals the reference") {
  constexpr ElementType kTypes[] = {ElementType::F32, ElementType::F64, ElementType::I8,  ElementType::U8,
                                    ElementType::I32, ElementType::U32, ElementType::I64, ElementType::U64};
  std::vector<Case> cases;
  for (ElementType elem : kTypes) {
    Tensor falling(TensorType{elem, {900}}), drawn(TensorType{elem, {2, 700, 2}});
    for (int64_t i = 0; i < 900; ++i)
      is_float(elem) ? falling.set_double(i, 1e3 - static_cast<double>(i)) : falling.set_int(i, 900 - i);
    std::mt19937 random(5);
    for (int64_t i = 0; i < drawn.elements(); ++i) {
      const auto v = static_cast<int64_t>(random() % 400) - 200;
      if (!is_float(elem)) drawn.set_int(i, byte_size(elem) == 1 || v % 7 != 0 ? v : v << 23);
      constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-42};
      if (is_float(elem)) drawn.set_double(i, v >= -194 ? static_cast<double>(v) / 64 : kSpecial[v + 200]);
    }
    for (int64_t largest : {0, 1}) {
      for (int64_t k : {33, 300, 700, 899, 900})
        cases.push_back(Case("TopK").set("largest", num(largest)).unknown(falling).in(ints({k})).outputs(2));
      for (int64_t k : {32, 33, 257, 699, 700}) {
        Case c = Case("TopK").set("largest", num(largest)).set("axis", num(1));
        cases.push_back(c.unknown(drawn).in(ints({k})).outputs(2));
      }
    }
  }
  check_generated_code(cases);
}

TEST_CASE("generated code of indexed movement equals the reference") {
  std::vector<Case> cases;
  for (ElementType elem : {ElementType::F32, ElementType::I8, ElementType::I64, ElementType::U16}) {
    Tensor x = random_tensor(elem, {3, 4, 5}, 1);
    Tensor few = index({2, 2}, {1, -1, 0, 2}, ElementType::I32), many = index({2, 3, 5}, Ints(30, -2));
    for (int64_t axis : {0, 1, 2})
      cases.push_back(Case("Gather").set("axis", num(axis)).unknown(x).unknown(few));
    cases.push_back(Case("GatherElements").set("axis", num(1)).unknown(x).unknown(many));
    cases.push_back(Case("GatherND").unknown(x).unknown(index({2, 2}, {1, -1, 0, 2})));
    cases.push_back(Case("GatherND")
                        .set("batch_dims", num(1))
                        .unknown(x)
                        .unknown(index({3, 2, 1}, {0, 1, 2, 3, -1, -2})));
    for (const char* mode : {"none", "add", "mul", "max", "min"}) {
      Case c = Case("ScatterElements").set("axis", num(1)).set("reduction", text(mode));
      cases.push_back(c.unknown(x).unknown(many).unknown(random_tensor(elem, {2, 3, 5}, 2)));
      Case nd = Case("ScatterND").set("reduction", text(mode)).unknown(x).unknown(index({2, 1}, {2, -1}));
      cases.push_back(nd.unknown(random_tensor(elem, {2, 4, 5}, 3)));
    }
    for (int64_t axis : {0, 1, -1}) {
      cases.push_back(Case("TopK").set("axis", num(axis)).unknown(x).in(ints({3})).outputs(2));
      cases.push_back(
          Case("TopK").set("axis", num(axis)).set("largest", num(0)).unknown(x).in(ints({2})).outputs(2));
      Case hot = Case("OneHot").set("axis", num(axis)).unknown(index({2, 3}, {0, 1, -1, 9, -9, 2}));
      cases.push_back(hot.in(index({}, {4})).unknown(random_tensor(elem, {2}, 4)));
    }
    for (int64_t upper : {0, 1}) {
      for (int64_t k : {-9, -1, 0, 2, 9})
        cases.push_back(Case("Trilu").set("upper", num(upper)).unknown(x).in(index({}, {k})));
    }
    if (elem == ElementType::I8 || elem == ElementType::U16) continue;
    for (int64_t mode = 0; mode < 4; ++mode) {
      Case c = Case("CumSum").set("exclusive", num(mode % 2)).set("reverse", num(mode / 2));
      cases.push_back(c.unknown(x).in(index({}, {mode % 3})));
    }
  }
  cases.push_back(Case("OneHot")
                      .unknown(floats({4}, {1, -1e30, 1e30, 2}))
                      .in(index({}, {3}))
                      .unknown(floats({2}, {0, 1})));
  check_generated_code(cases);
}

}  // namespace mrvlc::ops::test
