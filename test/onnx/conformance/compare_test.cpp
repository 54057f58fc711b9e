// What counts as equal: for every kind of element a near miss on both sides of the tolerance, the last
// element, NaNs, infinities, types, shapes and items.
#include "mrvlc/conformance/compare.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace mrvlc::conformance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

Tensor of(ElementType elem, const std::vector<double>& values) {
  return Tensor::of(elem, {static_cast<int64_t>(values.size())}, values);
}
bool same(ElementType elem, const std::vector<double>& actual, const std::vector<double>& expected) {
  return difference(of(elem, actual), of(elem, expected)).empty();
}

Tensor sequence(const std::vector<Tensor>& items) {
  TensorType type = items.empty() ? TensorType{ElementType::F32, {1}} : items[0].type();
  type.wrapper = Wrapper::Sequence;
  type.length = 4;
  return Tensor::wrapped(type, items);
}

}  // namespace

TEST_CASE("a NaN equals a NaN, and nothing else; infinities have signs") {
  for (ElementType elem : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    CHECK(same(elem, {1, kNan}, {1, kNan}));
    CHECK_FALSE(same(elem, {1, kNan}, {1, 2}));
    CHECK_FALSE(same(elem, {1, 2}, {1, kNan}));
    CHECK(same(elem, {kInf, -kInf}, {kInf, -kInf}));
    CHECK_FALSE(same(elem, {kInf}, {-kInf}));
    CHECK_FALSE(same(elem, {kInf}, {1e4}));
    CHECK_FALSE(same(elem, {1e4}, {kInf}));
    CHECK_FALSE(same(elem, {kNan}, {kInf}));
  }
}

TEST_CASE("floats agree to their tolerance, relative to one more than the value, in the last element too") {
  for (auto elem : {ElementType::F32, ElementType::F64}) {
    CHECK(same(elem, {0, 100.09}, {0, 100}));
    CHECK_FALSE(same(elem, {0, 100.11}, {0, 100}));
    CHECK(same(elem, {9e-4}, {0}));
    CHECK_FALSE(same(elem, {1.1e-3}, {0}));
    CHECK_FALSE(same(elem, {1, 1, -1}, {1, 1, 1}));
  }
  CHECK(same(ElementType::F16, {100.45}, {100}));
  CHECK_FALSE(same(ElementType::F16, {100.6}, {100}));
  CHECK_FALSE(same(ElementType::BF16, {0, 1.02}, {0, 1}));
  CHECK(difference(of(ElementType::F32, {1.05}), of(ElementType::F32, {1}), 0.1).empty());
  CHECK_FALSE(difference(of(ElementType::F32, {1.25}), of(ElementType::F32, {1}), 0.1).empty());
}

TEST_CASE("integers, bools, texts and floats of eight bits agree exactly") {
  for (ElementType elem : {ElementType::I8, ElementType::U8, ElementType::I32, ElementType::I64,
                           ElementType::U64, ElementType::F8E4M3FN, ElementType::F8E5M2}) {
    CHECK(same(elem, {1, 2, 3}, {1, 2, 3}));
    CHECK_FALSE(same(elem, {1, 2, 4}, {1, 2, 3}));
    CHECK_FALSE(same(elem, {0, 2, 3}, {1, 2, 3}));
  }
  CHECK_FALSE(same(ElementType::Bool, {1, 0}, {1, 1}));
  Tensor a = Tensor::strings({2}, {"x", "y"});
  CHECK(difference(a, Tensor::strings({2}, {"x", "y"})).empty());
  CHECK_FALSE(difference(a, Tensor::strings({2}, {"x", "z"})).empty());
}

TEST_CASE("element types, ranks and shapes count") {
  Tensor row = Tensor::of<float>(ElementType::F32, {1, 2}, {1, 2});
  CHECK_FALSE(difference(row.reshaped({2}), row).empty());
  CHECK_FALSE(difference(row.reshaped({2, 1}), row).empty());
  CHECK_FALSE(difference(Tensor::of<double>(ElementType::F64, {1, 2}, {1, 2}), row).empty());
  CHECK_FALSE(difference(of(ElementType::F32, {1, 2, 3}), of(ElementType::F32, {1, 2})).empty());
}

TEST_CASE("sequences agree in number, and item by item") {
  Tensor one = of(ElementType::F32, {1}), two = of(ElementType::F32, {2});
  CHECK(difference(sequence({one, two}), sequence({one, two})).empty());
  CHECK_FALSE(difference(sequence({one, two}), sequence({one, one})).empty());
  CHECK_FALSE(difference(sequence({one, two, two}), sequence({one, two})).empty());
  CHECK_FALSE(difference(sequence({one}), sequence({one, two})).empty());
  CHECK_FALSE(difference(one, sequence({one})).empty());
}

}  // namespace mrvlc::conformance
