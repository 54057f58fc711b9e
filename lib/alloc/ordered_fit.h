// First and best fit in any order.
#pragma once
#include <span>

#include "problem.h"

namespace mrvlc::alloc {

using Order = std::vector<uint32_t>;

// Which boxes meet in time. Not known when there are too many pairs for the memory.
class Conflicts {
 public:
  explicit Conflicts(const Problem& problem);
  bool known() const { return known_; }
  std::span<const uint32_t> of(uint32_t box) const {
    return {list_.data() + first_[box], list_.data() + first_[box + 1]};
  }

 private:
  bool known_ = false;
  std::vector<size_t> first_;
  std::vector<uint32_t> list_;
};

// Each box in turn at the lowest offset free for its live range, or in the smallest gap. Gives up, with peak
// INT64_MAX, as soon as something reaches above `limit`.
Layout place_in_order(const Problem& problem, const Conflicts& conflicts, const Order& order, bool best_fit,
                      int64_t limit, Budget& budget);

}  // namespace mrvlc::alloc
