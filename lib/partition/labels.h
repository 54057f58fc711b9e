// Which of k targets each item goes to, so that the sum of what items cost there, and of what it costs that
// two items are on different targets, is least.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace mrvlc::partition {

inline constexpr int64_t kForbidden = int64_t{1} << 50;  // no sum of real costs comes near

// Costs are from 0 to kForbidden.
struct Labelling {
  uint32_t targets = 2;
  std::vector<int64_t> own;  // of item i on target t: own[i * targets + t]
  struct Pair {
    uint32_t a = 0, b = 0;
    std::vector<int64_t> cost;  // of a on s and b on t: cost[s * targets + t]; none on the same target
  };
  std::vector<Pair> pairs;

  uint32_t add_item(const std::vector<int64_t>& costs);
  size_t items() const { return own.size() / targets; }
};

int64_t cost_of(const Labelling& problem, const std::vector<uint32_t>& labels);

// For two targets the least there is (a minimum cut); for more, the result of moves to one target after the
// other, each the best of its kind, until none helps. Forbidden costs are part of the result only where
// nothing else is possible. The same for the same problem.
std::vector<uint32_t> best_labels(const Labelling& problem);

}  // namespace mrvlc::partition
