// Statistics of values, against what sorting says.
#include "mrvlc/calibration/statistics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "mrvlc/interp/random.h"

namespace mrvlc::calibration {
namespace {

Tensor floats(const std::vector<double>& values) {
  return Tensor::of<double>(ElementType::F32, {static_cast<int64_t>(values.size())}, values);
}

TEST_CASE("ends, mean and counts are exact") {
  Statistics s;
  s.add(floats({3, -5, NAN, 0, INFINITY, -INFINITY, 0x1p-15}));
  s.add(floats({2, 0x1p-14}));
  const Summary got = s.summary();
  CHECK(got.elements == 9);
  CHECK(got.non_finite == 3);
  CHECK(got.finite() == 6);
  CHECK(got.min == -5);
  CHECK(got.max == 3);
  CHECK(got.max_abs() == 5);
  CHECK(got.mean == Approx((3 - 5 + 0 + 0x1p-15 + 2 + 0x1p-14) / 6));
  CHECK(got.fp16_subnormal_share == Approx(1.0 / 6));  // 2^-14 is normal, 0 is no loss
}

TEST_CASE("the first elements of a value are its ends, whatever their sign") {
  for (const double v : {4.0, -4.0}) {
    Statistics s;
    s.add(floats({v}));
    CHECK(s.summary().min == v);
    CHECK(s.summary().max == v);
    CHECK(s.summary().mean == v);
    for (double p : s.summary().percentiles) CHECK(p == v);
  }
}

TEST_CASE("what holds nothing finite has zeros, and counts") {
  Statistics s;
  CHECK(s.summary() == Summary{});
  s.add(Tensor(TensorType{ElementType::F32, {0, 7}}));
  CHECK(s.summary() == Summary{});
  s.add(floats({NAN, INFINITY}));
  CHECK(s.summary().elements == 2);
  CHECK(s.summary().non_finite == 2);
  CHECK(s.summary().max_abs() == 0);
}

TEST_CASE("integers count, truth values and texts do not") {
  Statistics s;
  s.add(Tensor::of<int64_t>(ElementType::I64, {3}, {-7, 0, 12}));
  s.add(Tensor(TensorType{ElementType::Bool, {5}}));
  s.add(Tensor::strings({1}, {"text"}));
  CHECK(s.summary().elements == 3);
  CHECK(s.summary().min == -7);
  CHECK(s.summary().max == 12);
}

TEST_CASE("percentiles are those of the sorted elements, within a bucket") {
  interp::Mulberry32 random(7);
  for (int shape = 0; shape < 4; ++shape) {
    std::vector<double> values;
    for (int i = 0; i < 20000; ++i) {
      const double u = random.uniform() - 0.5;
      values.push_back(static_cast<double>(static_cast<float>(shape == 0   ? u
                                                              : shape == 1 ? u * u * u * 1e6
                                                              : shape == 2 ? std::exp(20 * u)
                                                                           : -1 - u)));
    }
    Statistics s;
    for (size_t i = 0; i < values.size(); i += 5000)  // in parts
      s.add(floats(
          {values.begin() + static_cast<ptrdiff_t>(i), values.begin() + static_cast<ptrdiff_t>(i) + 5000}));
    std::sort(values.begin(), values.end());
    const Summary got = s.summary();
    CHECK(std::is_sorted(got.percentiles.begin(), got.percentiles.end()));
    for (size_t k = 0; k < kPercentiles.size(); ++k) {
      INFO("distribution " << shape << ", " << kPercentiles[k]);
      const double exact = values[static_cast<size_t>(kPercentiles[k] * 20000)];
      CHECK(std::abs(got.percentiles[k] - exact) <= 0.13 * std::abs(exact) + 1e-9);
    }
  }
}

TEST_CASE("numbers beyond float32 are counted where float32 ends") {
  Statistics s;
  s.add(Tensor::of<double>(ElementType::F64, {3}, {-1e300, 1e300, 1e300}));
  CHECK(s.summary().min == -1e300);
  CHECK(s.summary().max == 1e300);
  for (double p : s.summary().percentiles) CHECK(std::isfinite(p));
  s.add(Tensor::of<double>(ElementType::F64, {2}, {1.7e308, 1.7e308}));
  CHECK(std::isfinite(s.summary().mean));
}

}  // namespace
}  // namespace mrvlc::calibration
