// The fast loops of the reference's products against the plain ones, bit by bit.
#include "product/ref_gemm.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "product/gemm_kernels.h"

using namespace mrvlc::ops;

namespace {

// Numbers whose sums depend on their order, and whose products are not exact in double.
std::vector<double> numbers(size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> out(n);
  for (double& v : out) v = std::ldexp(normal(random), static_cast<int>(random() % 40) - 20);
  return out;
}

struct Size {
  int64_t m, n, k;
};

std::vector<double> product(const GemmKernels& kernels, const Size& s, int64_t ldb, int64_t ldc) {
  const std::vector<double> a = numbers(static_cast<size_t>(s.m * s.k), 1),
                            b = numbers(static_cast<size_t>(s.k * ldb), 2);
  std::vector<double> c = numbers(static_cast<size_t>(s.m * ldc), 3);
  ref_gemm(kernels, s.m, s.n, s.k, a.data(), s.k, b.data(), ldb, c.data(), ldc);
  return c;
}

}  // namespace

TEST_CASE("products have the same bits on every processor") {
  const Size sizes[] = {{1, 1, 1},   {1, 37, 9},   {4, 8, 256},  {5, 13, 257}, {8, 12, 300},
                        {19, 29, 5}, {20, 128, 9}, {31, 7, 600}, {64, 130, 31}};
  for (int i = 1; gemm_kernels_at(i) != nullptr; ++i)
    for (const Size& s : sizes) {
      INFO(gemm_kernels_at(i)->name << ": " << s.m << " x " << s.n << " x " << s.k);
      const auto plain = product(portable_gemm_kernels(), s, s.n + 3, s.n + 5);
      const auto fast = product(*gemm_kernels_at(i), s, s.n + 3, s.n + 5);
      REQUIRE(std::memcmp(plain.data(), fast.data(), plain.size() * sizeof plain[0]) == 0);
    }
}

TEST_CASE("a product is the sum of its terms in order, 256 at a time") {
  const Size s{5, 9, 300};
  const std::vector<double> a = numbers(static_cast<size_t>(s.m * s.k), 1),
                            b = numbers(static_cast<size_t>(s.k * s.n), 2);
  const std::vector<double> c = product(gemm_kernels(), s, s.n, s.n);
  const std::vector<double> before = numbers(c.size(), 3);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      const bool blocked = i < 4 && j < 8;  // what is left over is added to the element itself
      double sum = before[static_cast<size_t>(i * s.n + j)], part = 0;
      for (int64_t p = 0; p < s.k; ++p) {
        const double term = a[static_cast<size_t>(i * s.k + p)] * b[static_cast<size_t>(p * s.n + j)];
        (blocked ? part : sum) += term;
        if (blocked && (p % 256 == 255 || p + 1 == s.k)) sum += part, part = 0;
      }
      REQUIRE(c[static_cast<size_t>(i * s.n + j)] == sum);
    }
}
