// What is taken of on-chip memory over time, and where there is room.
#include "place/occupancy.h"

#include <algorithm>

namespace mrvlc::accel {

void Occupancy::keep(int64_t first, int64_t last, int64_t begin, int64_t end) {
  for (int64_t g = first / kGroup; g <= last / kGroup; ++g)
    groups_[static_cast<size_t>(g)].push_back({first, last, begin, end});
}

int64_t Occupancy::hole(int64_t first, int64_t last, int64_t bytes, bool from_top) {
  busy_.clear();
  for (int64_t g = first / kGroup; g <= last / kGroup; ++g)
    for (const Range& r : groups_[static_cast<size_t>(g)])
      if (r.last >= first && r.first <= last) busy_.emplace_back(r.begin, r.end);
  std::ranges::sort(busy_);
  int64_t at = 0, highest = -1;
  for (const auto& [begin, end] : busy_) {
    if (begin - at >= bytes) {
      if (!from_top) return at;
      highest = begin - bytes;
    }
    at = std::max(at, end);
  }
  return capacity_ - at >= bytes ? (from_top ? capacity_ - bytes : at) : highest;
}

}  // namespace mrvlc::accel
