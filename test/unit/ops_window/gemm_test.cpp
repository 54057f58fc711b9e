#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

std::vector<double> naive_gemm(const Tensor& a, const Tensor& b, bool ta, bool tb, double alpha) {
  int64_t m = a.shape()[ta ? 1 : 0], k = a.shape()[ta ? 0 : 1], n = b.shape()[tb ? 0 : 1];
  std::vector<double> y;
  for (int64_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int64_t p = 0; p < k; ++p) {
      sum +=
          a.as_double(ta ? p * m + i / n : i / n * k + p) * b.as_double(tb ? i % n * k + p : p * n + i % n);
    }
    y.push_back(alpha * sum);
  }
  return y;
}

Tensor f32(Shape shape, uint32_t seed) {
  return random_tensor(ElementType::F32, std::move(shape), seed);
}

}  // namespace

TEST_CASE("Gemm with every transposition and shape around the block sizes") {
  for (int64_t m : {1, 3, 4, 9}) {
    for (int64_t n : {1, 2, 5, 8}) {
      for (int64_t k : {1, 7, 300}) {
        bool ta = (m + k) % 2 == 0, tb = (n + k) % 2 == 0;
        Tensor a = f32(ta ? Shape{k, m} : Shape{m, k}, 1), b = f32(tb ? Shape{n, k} : Shape{k, n}, 2);
        Case c = Case("Gemm")
                     .set("transA", num(ta))
                     .set("transB", num(tb))
                     .set("alpha", ir::Attr(0.5f))
                     .in(a)
                     .in(b);
        REQUIRE(greatest_error(c.value(), naive_gemm(a, b, ta, tb, 0.5)) < 1e-6);
      }
    }
  }
}

TEST_CASE("Gemm broadcasts C in every way") {
  Tensor a = floats({2, 1}, {1, 2}), b = floats({1, 3}, {1, 10, 100});
  auto run = [&](Tensor c) {
    return Case("Gemm").set("beta", ir::Attr(2.0f)).in(a).in(b).in(std::move(c)).value().to_doubles();
  };
  using D = std::vector<double>;
  REQUIRE(run(floats({}, {1})) == D{3, 12, 102, 4, 22, 202});
  REQUIRE(run(floats({3}, {0, 1, 2})) == D{1, 12, 104, 2, 22, 204});
  REQUIRE(run(floats({2, 1}, {0, 1})) == D{1, 10, 100, 4, 22, 202});
  REQUIRE(run(floats({1, 1}, {1})) == D{3, 12, 102, 4, 22, 202});
}

TEST_CASE("MatMul follows numpy's shapes") {
  auto shape = [](Shape a, Shape b) {
    return Case("MatMul").in(f32(std::move(a), 1)).in(f32(std::move(b), 2)).value().shape();
  };
  REQUIRE(shape({3}, {3}) == Shape{});
  REQUIRE(shape({3}, {3, 4}) == Shape{4});
  REQUIRE(shape({2, 3}, {3}) == Shape{2});
  REQUIRE(shape({5, 1, 2, 3}, {4, 3, 6}) == Shape{5, 4, 2, 6});
  REQUIRE(shape({4}, {2, 4, 3}) == Shape{2, 3});
  REQUIRE(shape({0, 4}, {4, 3}) == Shape{0, 3});
}

TEST_CASE("MatMul broadcasts batches") {
  Tensor a = f32({2, 1, 3, 4}, 1), b = f32({3, 4, 5}, 2);
  Tensor y = Case("MatMul").in(a).in(b).value();
  for (int64_t batch = 0; batch < 6; ++batch) {
    for (int64_t i = 0; i < 15; ++i) {
      double sum = 0;
      for (int64_t p = 0; p < 4; ++p) {
        sum += a.as_double(batch / 3 * 12 + i / 5 * 4 + p) * b.as_double(batch % 3 * 20 + p * 5 + i % 5);
      }
      REQUIRE(y.as_double(batch * 15 + i) == Approx(sum));
    }
  }
}

TEST_CASE("Gemm of integers, square ones too, as they lie or transposed") {
  auto two = [](std::vector<int64_t> v) { return Tensor::of<int64_t>(ElementType::I32, {2, 2}, v); };
  std::vector<Case> cases;
  for (auto [a, b, expected] : {std::tuple(0, 0, std::vector<int64_t>{19, 22, 43, 50}),
                                std::tuple(0, 1, std::vector<int64_t>{17, 23, 39, 53}),
                                std::tuple(1, 0, std::vector<int64_t>{26, 30, 38, 44}),
                                std::tuple(1, 1, std::vector<int64_t>{23, 31, 34, 46})}) {
    Case c =
        Case("Gemm").set("transA", num(a)).set("transB", num(b)).in(two({1, 2, 3, 4})).in(two({5, 6, 7, 8}));
    REQUIRE(c.value().to_ints() == expected);
    cases.push_back(std::move(c));
  }
  check_generated_code(cases);
}

TEST_CASE("MatMul of integers is exact and wraps") {
  auto big = Tensor::of<int64_t>(ElementType::I64, {1, 2}, {(int64_t{1} << 60) + 1, 3});
  auto two = Tensor::of<int64_t>(ElementType::I64, {2, 1}, {5, 7});
  REQUIRE(Case("MatMul").in(big).in(two).value().as_int(0) == 5 * ((int64_t{1} << 60) + 1) + 21);
  auto word = Tensor::of<int64_t>(ElementType::I32, {1, 1}, {1 << 20});
  REQUIRE(Case("MatMul").in(word).in(word).value().as_int(0) == 0);
}

}  // namespace mrvlc::ops::test
