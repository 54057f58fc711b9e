// Percentile: Wu et al., "Integer quantization for deep learning inference" (2020), 3.2. Entropy: Migacz,
// "8-bit inference with TensorRT" (2017), with ranges that need not be symmetric.
#include "ranges.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mrvlc::quantize {
namespace {

struct Range {
  double low = 0, high = 0;
};

// Nothing is gained by less of a range than this share.
constexpr int kSteps = 64;
constexpr double kLeastShare = 0.1;

double share_of(int step) {
  return 1 - (1 - kLeastShare) * step / kSteps;
}

Range percentile_range(const Histogram& h) {
  constexpr double kTail = 1e-4;
  const auto cut = static_cast<int64_t>(static_cast<double>(h.total()) * kTail);
  Range r{h.min(), h.max()};
  int64_t below = 0, above = 0;
  for (size_t i = 0; i < h.bins() && below + h.count(i) <= cut; ++i) {
    below += h.count(i);
    r.low = h.right(i);
  }
  for (size_t i = h.bins(); i-- > 0 && above + h.count(i) <= cut;) {
    above += h.count(i);
    r.high = h.left(i);
  }
  return r;
}

// The least `cost` of ranges that are a share of the whole, first both ends together, then each by itself.
template <class Cost>
Range least(const Histogram& h, const Cost& cost) {
  const Range whole{h.min(), h.max()};
  Range best = whole;
  double least_cost = cost(whole);
  const auto consider = [&](Range r) {
    const double c = cost(r);
    if (c < least_cost) {
      least_cost = c;
      best = r;
    }
  };
  for (int i = 1; i <= kSteps; ++i) consider({whole.low * share_of(i), whole.high * share_of(i)});
  const Range together = best;
  for (int i = 0; i <= kSteps; ++i) consider({whole.low * share_of(i), together.high});
  const Range low = best;
  for (int i = 0; i <= kSteps; ++i) consider({low.low, whole.high * share_of(i)});
  return best;
}

// Divergence of the distribution that the integers can show from the one seen: what lies outside goes to the
// ends, what falls to one integer is spread over the bins of it that are not empty.
double divergence(const Histogram& h, const Affine& a) {
  const ops::IntRange r = ops::range_of(a.type);
  const auto level = [&](double x) { return ops::quantized(static_cast<float>(x), a.scale, a.zero, r); };
  std::vector<double> p(h.bins());
  std::vector<int64_t> levels(h.bins());
  for (size_t i = 0; i < h.bins(); ++i) {
    p[i] = static_cast<double>(h.count(i));
    levels[i] = level(h.centre(i));
  }
  const double low = rounded(a, -HUGE_VAL), high = rounded(a, HUGE_VAL);
  double out_low = 0, out_high = 0, kl = 0;
  size_t first = h.bins(), last = 0;
  for (size_t i = 0; i < h.bins(); ++i) {
    if (h.centre(i) < low) {
      out_low += p[i];
    } else if (h.centre(i) > high) {
      out_high += p[i];
    } else if (p[i] > 0) {
      first = std::min(first, i);
      last = std::max(last, i);
    }
  }
  if (first > last) return HUGE_VAL;
  const double inside = static_cast<double>(h.total()) - out_low - out_high;
  if (!(inside > 0)) return HUGE_VAL;
  for (size_t i = first; i <= last;) {
    size_t end = i;
    double sum = 0, filled = 0;
    for (; end <= last && levels[end] == levels[i]; ++end) {
      sum += p[end];
      filled += p[end] > 0 ? 1 : 0;
    }
    for (size_t k = i; k < end; ++k) {
      if (!(p[k] > 0)) continue;
      const double seen =
          (p[k] + (k == first ? out_low : 0) + (k == last ? out_high : 0)) / static_cast<double>(h.total());
      kl += seen * std::log(seen / (sum / filled / inside));
    }
    i = end;
  }
  return kl;
}

}  // namespace

std::string_view name(RangeMethod method) {
  constexpr std::array<std::string_view, 5> kNames = {"best", "minmax", "percentile", "mse", "entropy"};
  return kNames[static_cast<size_t>(method)];
}

double squared_error(const Histogram& h, const Affine& a) {
  double sum = 0;
  for (size_t i = 0; i < h.bins(); ++i) {
    if (h.count(i) == 0) continue;
    const double centre = h.centre(i), error = centre - rounded(a, centre);
    sum += static_cast<double>(h.count(i)) * error * error;
  }
  return sum;
}

Affine affine_by(RangeMethod method, const Histogram& h, ElementType type) {
  Range r{h.min(), h.max()};
  const auto affine = [&](Range range) { return affine_for(range.low, range.high, type); };
  if (h.empty()) return affine(r);
  if (method == RangeMethod::Percentile) r = percentile_range(h);
  if (method == RangeMethod::Mse) r = least(h, [&](Range c) { return squared_error(h, affine(c)); });
  if (method == RangeMethod::Entropy) r = least(h, [&](Range c) { return divergence(h, affine(c)); });
  return affine(r);
}

}  // namespace mrvlc::quantize
