// What the elements of a value are like, over any number of tensors: taken in one by one, none is kept.
#pragma once
#include <array>
#include <cstdint>
#include <map>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::calibration {

inline constexpr std::array<double, 9> kPercentiles = {0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999};

struct Summary {
  int64_t elements = 0, non_finite = 0;
  // Of the finite ones; 0 when there are none.
  double min = 0, max = 0, mean = 0;
  std::array<double, kPercentiles.size()> percentiles{};  // within an eighth of the magnitude
  double fp16_subnormal_share = 0;  // not 0, and below 2^-14, the least normal number of fp16

  int64_t finite() const { return elements - non_finite; }
  double max_abs() const;
  bool operator==(const Summary&) const = default;
};

class Statistics {
 public:
  // Floats and integers; a tensor of anything else changes nothing.
  void add(const Tensor& tensor);
  Summary summary() const;

 private:
  double percentile(double share) const;

  int64_t elements_ = 0, non_finite_ = 0, subnormal_ = 0;
  double min_ = 0, max_ = 0, sum_ = 0;
  // How many elements lie in [lower_bound(b), lower_bound(b + 1)); buckets by sign, exponent and three bits
  // of the mantissa.
  std::map<uint16_t, int64_t> buckets_;
};

}  // namespace mrvlc::calibration
