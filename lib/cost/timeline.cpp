// Steps of a shared path's use, split and filled from the left.
#include "timeline.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::cost {
namespace {

constexpr double kNothing = 1e-9;  // bytes or bytes a cycle below any that a whole number of bytes can leave

}  // namespace

// Index of the step that begins at `at`, made if need be.
size_t Timeline::split(double at) {
  auto after = std::ranges::upper_bound(steps_, at, {}, &Step::begin);
  auto step = after - 1;
  if (step->begin < at) step = steps_.insert(after, {at, step->used});
  return static_cast<size_t>(step - steps_.begin());
}

uint64_t Timeline::reserve(uint64_t now, uint64_t start, uint64_t bytes, uint64_t cycles) {
  auto past = std::ranges::upper_bound(steps_, static_cast<double>(now), {}, &Step::begin) - 1;
  steps_.erase(steps_.begin(), past);
  if (bytes == 0) return start;
  double rate =
      std::min(capacity_, static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(cycles, 1)));
  double left = static_cast<double>(bytes), at = static_cast<double>(start);
  for (size_t i = split(at);; ++i) {
    double take = std::min(rate, capacity_ - steps_[i].used);
    bool last = i + 1 == steps_.size();
    if (take <= kNothing) continue;  // never the last step: beyond all reservations the path is free
    at = std::max(at, steps_[i].begin);
    double end = at + left / take;
    if (end <= at) return static_cast<uint64_t>(std::ceil(at));  // less than the clock of a long run resolves
    if (last || end <= steps_[i + 1].begin) {
      split(end);
      steps_[i].used += take;
      return static_cast<uint64_t>(std::ceil(end - kNothing * std::max(1.0, end)));
    }
    left -= take * (steps_[i + 1].begin - at);
    steps_[i].used += take;
    if (left <= kNothing) return static_cast<uint64_t>(std::ceil(steps_[i + 1].begin));
  }
}

}  // namespace mrvlc::cost
