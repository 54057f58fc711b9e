#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

Tensor bytes(ElementType elem, Shape shape, const std::vector<int64_t>& values) {
  return Tensor::of(elem, std::move(shape), values);
}

// One image, stride 1, padding of 1 all around, straight from the definition.
int64_t conv_at(const Tensor& x, const Tensor& w, int64_t zx, int64_t zw, int64_t m, int64_t oy, int64_t ox) {
  const int64_t channels = w.shape()[1], first = m / (w.shape()[0] / (x.shape()[1] / channels)) * channels;
  int64_t sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < 9; ++k) {
      int64_t y = oy + k / 3 - 1, column = ox + k % 3 - 1;
      if (y < 0 || y >= x.shape()[2] || column < 0 || column >= x.shape()[3]) continue;
      sum += (x.as_int(((first + c) * x.shape()[2] + y) * x.shape()[3] + column) - zx) *
             (w.as_int((m * channels + c) * 9 + k) - zw);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("ConvInteger takes zero points off and pads with them") {
  Tensor x = random_tensor(ElementType::U8, {1, 4, 4, 5}, 1),
         w = random_tensor(ElementType::I8, {6, 2, 3, 3}, 2);
  std::vector<int64_t> zeros{-3, 0, 7, -128, 127, 1};
  Case c = Case("ConvInteger").set("pads", list({1, 1, 1, 1})).set("group", num(2)).unknown(x).in(w);
  Tensor y = c.in(bytes(ElementType::U8, {}, {130})).in(bytes(ElementType::I8, {6}, zeros)).value();
  REQUIRE(y.type() == TensorType{ElementType::I32, {1, 6, 4, 5}});
  for (int64_t i = 0; i < y.elements(); ++i)
    CHECK(y.as_int(i) == conv_at(x, w, 130, zeros[static_cast<size_t>(i / 20)], i / 20, i % 20 / 5, i % 5));
}

TEST_CASE("MatMulInteger has zero points of rows and columns") {
  Case c = Case("MatMulInteger")
               .in(bytes(ElementType::U8, {2, 3}, {1, 2, 3, 255, 0, 9}))
               .in(bytes(ElementType::I8, {3, 2}, {1, -1, 2, -128, 3, 127}))
               .in(bytes(ElementType::U8, {2}, {1, 5}))
               .in(bytes(ElementType::I8, {2}, {0, -1}));
  // Rows less 1 and 5: {0, 1, 2}, {250, -5, 4}; columns less 0 and -1: {1, 2, 3}, {0, -127, 128}.
  CHECK(c.value().to_ints() == std::vector<int64_t>{8, 129, 252, 1147});
}

TEST_CASE("zero points of another type or size are refused") {
  auto with = [](Tensor zero) {
    return Case("MatMulInteger")
        .unknown(iota(ElementType::U8, {2, 3}))
        .unknown(iota(ElementType::U8, {3, 4}))
        .unknown(std::move(zero))
        .refusal();
  };
  CHECK(with(iota(ElementType::U8, {2})).empty());
  CHECK(with(iota(ElementType::U8, {3})) == "MRV0205");
  CHECK(with(iota(ElementType::I8, {2})) == "MRV0202");
}

TEST_CASE("integer products in C") {
  std::vector<Case> cases;
  for (ElementType a : {ElementType::U8, ElementType::I8}) {
    for (ElementType b : {ElementType::U8, ElementType::I8}) {
      Tensor za = bytes(a, {1}, {100}), zb = bytes(b, {6}, {1, 2, 3, 4, 5, 120});
      cases.push_back(Case("MatMulInteger")
                          .unknown(random_tensor(a, {2, 1, 3, 7}, 1))
                          .unknown(random_tensor(b, {2, 7, 6}, 2))
                          .unknown(za)
                          .in(zb));
      cases.push_back(Case("ConvInteger")
                          .set("pads", list({1, 0, 2, 1}))
                          .set("strides", list({2, 1}))
                          .set("dilations", list({1, 2}))
                          .set("group", num(2))
                          .unknown(random_tensor(a, {2, 4, 5, 6}, 3))
                          .in(random_tensor(b, {6, 2, 3, 2}, 4))
                          .in(za)
                          .unknown(zb));
    }
  }
  cases.push_back(Case("ConvInteger")
                      .unknown(random_tensor(ElementType::U8, {1, 2, 9}, 5))
                      .unknown(random_tensor(ElementType::U8, {3, 2, 4}, 6)));
  check_generated_code(cases);
}

}  // namespace mrvlc::ops::test
