// Bins joined in pairs when more than 4096 would be needed; borders stay multiples of a power of two.
#include "histogram.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::quantize {
namespace {

constexpr int64_t kMaxBins = 4096;
constexpr int kLeastExponent = -140;  // below fp32's numbers

int64_t index_of(double x, int exponent) {
  return static_cast<int64_t>(std::floor(std::ldexp(x, -exponent)));
}

int64_t half(int64_t i) {  // rounded down
  return (i - (i & 1)) / 2;
}

}  // namespace

double Histogram::left(size_t i) const {
  return std::max(min_, std::ldexp(static_cast<double>(first_ + static_cast<int64_t>(i)), exponent_));
}
double Histogram::right(size_t i) const {
  return std::min(max_, std::ldexp(static_cast<double>(first_ + static_cast<int64_t>(i) + 1), exponent_));
}

void Histogram::widen() {
  const int64_t last = first_ + static_cast<int64_t>(counts_.size()) - 1;
  const int64_t first = half(first_);
  std::vector<int64_t> counts(static_cast<size_t>(half(last) - first + 1), 0);
  for (size_t i = 0; i < counts_.size(); ++i)
    counts[static_cast<size_t>(half(first_ + static_cast<int64_t>(i)) - first)] += counts_[i];
  counts_ = std::move(counts);
  first_ = first;
  ++exponent_;
}

void Histogram::cover(double low, double high) {
  if (counts_.empty()) {
    const double range = high - low;
    // One number alone gets bins of about a 2048th of it.
    exponent_ = range > 0 ? std::max(kLeastExponent, std::ilogb(range / static_cast<double>(kMaxBins / 2)))
                          : (low == 0 ? kLeastExponent : std::ilogb(low) - 11);
    first_ = index_of(low, exponent_);
    counts_.assign(1, 0);
  }
  const auto bins_for = [&] {
    const int64_t last =
        std::max(first_ + static_cast<int64_t>(counts_.size()) - 1, index_of(high, exponent_));
    return last - std::min(first_, index_of(low, exponent_)) + 1;
  };
  // Below 2^60 indices and their differences fit an int64.
  while (std::ldexp(std::max(std::fabs(low), std::fabs(high)), -exponent_) > 0x1p60 || bins_for() > kMaxBins)
    widen();
  const int64_t begin = std::min(first_, index_of(low, exponent_));
  const auto size = static_cast<size_t>(bins_for());
  counts_.insert(counts_.begin(), static_cast<size_t>(first_ - begin), 0);
  first_ = begin;
  counts_.resize(size, 0);
}

void Histogram::add(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (float x : data) {
    if (!std::isfinite(x)) continue;
    low = std::min<double>(low, x);
    high = std::max<double>(high, x);
  }
  if (low > high) return;
  min_ = total_ == 0 ? low : std::min(min_, low);
  max_ = total_ == 0 ? high : std::max(max_, high);
  cover(low, high);
  const double per = std::ldexp(1.0, -exponent_);
  for (float x : data) {
    if (!std::isfinite(x)) continue;
    ++counts_[static_cast<size_t>(static_cast<int64_t>(std::floor(x * per)) - first_)];
    ++total_;
  }
}

}  // namespace mrvlc::quantize
