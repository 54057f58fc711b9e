// Percentiles without keeping elements: counts by the leading bits of float32, eight buckets an octave.
#include "mrvlc/calibration/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace mrvlc::calibration {
namespace {

// 2^(32 - kBucketBits): the sign, eight bits of exponent, three of mantissa.
constexpr uint32_t kBuckets = 4096;
constexpr uint32_t kBucketBits = 20;  // of a float32 that lie within a bucket

// Of a finite float; buckets are in the order of their numbers.
uint32_t bucket_of(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  // Bits of negative floats count downwards: inverted, and the others with the top bit set, all are in order.
  return (bits >> 31 != 0 ? ~bits : bits | 0x80000000u) >> kBucketBits;
}

double lower_bound(uint32_t bucket) {
  const uint32_t ordered = bucket << kBucketBits;
  const uint32_t bits = ordered >> 31 != 0 ? ordered & 0x7fffffffu : ~ordered;
  return static_cast<double>(std::bit_cast<float>(bits));
}

// Calls f(double) for every element.
template <class F>
void each(const Tensor& tensor, F f) {
  if (tensor.elem() == ElementType::F32) {
    for (float v : tensor.data<float>()) f(static_cast<double>(v));
  } else {
    for (int64_t i = 0; i < tensor.elements(); ++i) f(tensor.as_double(i));
  }
}

// The float32 nearest to it, and no infinity.
float within_f32(double v) {
  return static_cast<float>(std::clamp(v, -3.4028234663852886e38, 3.4028234663852886e38));
}

}  // namespace

double Summary::max_abs() const {
  return std::max(std::abs(min), std::abs(max));
}

void Statistics::add(const Tensor& tensor) {
  if (tensor.type().wrapper != Wrapper::None || !(is_float(tensor.elem()) || is_integer(tensor.elem())))
    return;
  std::vector<int64_t> counts(kBuckets, 0);
  each(tensor, [&](double v) {
    ++elements_;
    if (!std::isfinite(v)) {
      ++non_finite_;
      return;
    }
    const bool first = elements_ - non_finite_ == 1;
    min_ = first ? v : std::min(min_, v);
    max_ = first ? v : std::max(max_, v);
    sum_ += v;
    // 2^-14 is the least normal number of fp16.
    subnormal_ += v != 0 && std::abs(v) < 0x1p-14 ? 1 : 0;
    ++counts[bucket_of(within_f32(v))];
  });
  for (uint32_t b = 0; b < kBuckets; ++b)
    if (counts[b] != 0) buckets_[static_cast<uint16_t>(b)] += counts[b];
}

// Linear within the bucket that holds it.
double Statistics::percentile(double share) const {
  const double rank = share * static_cast<double>(elements_ - non_finite_);
  double below = 0;
  for (const auto& [bucket, count] : buckets_) {
    const auto in = static_cast<double>(count);
    if (below + in < rank) {
      below += in;
      continue;
    }
    const double low = std::max(lower_bound(bucket), min_);
    const double high = bucket + 1u < kBuckets ? std::min(lower_bound(bucket + 1u), max_) : max_;
    return std::clamp(low + (high - low) * (rank - below) / in, min_, max_);
  }
  return max_;
}

Summary Statistics::summary() const {
  Summary s;
  s.elements = elements_;
  s.non_finite = non_finite_;
  if (s.finite() == 0) return s;
  const auto n = static_cast<double>(s.finite());
  s.min = min_;
  s.max = max_;
  // A sum may overflow; readers of the file rely on a mean between min and max.
  s.mean = std::isfinite(sum_) ? std::clamp(sum_ / n, min_, max_) : min_ / 2 + max_ / 2;
  for (size_t i = 0; i < kPercentiles.size(); ++i) s.percentiles[i] = percentile(kPercentiles[i]);
  s.fp16_subnormal_share = static_cast<double>(subnormal_) / n;
  return s;
}

}  // namespace mrvlc::calibration
