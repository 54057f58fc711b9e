// The fullest moment of a map of memory over time.
#include "place/live_peak.h"

#include <algorithm>
#include <numeric>

namespace mrvlc::accel {
namespace {

// Memory between the addresses at which a use begins or ends, and how many hold each stretch.
class Holders {
 public:
  explicit Holders(std::span<const backend::MemoryUse> uses) {
    for (const backend::MemoryUse& u : uses) edges_.insert(edges_.end(), {u.begin, u.end});
    std::ranges::sort(edges_);
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    holders_.assign(edges_.size(), 0);
  }
  void take(const backend::MemoryUse& u) {
    for (size_t i = index(u.begin); edges_[i] < u.end; ++i)
      if (holders_[i]++ == 0) held_ += edges_[i + 1] - edges_[i];
  }
  void leave(const backend::MemoryUse& u) {
    for (size_t i = index(u.begin); edges_[i] < u.end; ++i)
      if (--holders_[i] == 0) held_ -= edges_[i + 1] - edges_[i];
  }
  int64_t held() const { return held_; }

 private:
  size_t index(uint32_t address) const {
    return static_cast<size_t>(std::ranges::lower_bound(edges_, address) - edges_.begin());
  }
  std::vector<uint32_t> edges_, holders_;  // holders_[i] of [edges_[i], edges_[i + 1])
  int64_t held_ = 0;
};

}  // namespace

int64_t live_peak(std::span<const backend::MemoryUse> uses) {
  std::vector<size_t> by_first(uses.size());
  std::iota(by_first.begin(), by_first.end(), size_t{0});
  std::vector<size_t> by_last = by_first;
  std::ranges::stable_sort(by_first, {}, [&](size_t i) { return uses[i].first; });
  std::ranges::stable_sort(by_last, {}, [&](size_t i) { return uses[i].last; });
  Holders holders(uses);
  int64_t peak = 0;
  size_t gone = 0;
  for (size_t i : by_first) {
    while (uses[by_last[gone]].last < uses[i].first) holders.leave(uses[by_last[gone++]]);
    holders.take(uses[i]);
    peak = std::max(peak, holders.held());
  }
  return peak;
}

}  // namespace mrvlc::accel
