// Makes a layout lower, as long as effort is left, by squeaky wheel optimization (D. Joslin, D. Clements,
// 1999): what lies too high is placed earlier in the next round.
#include <algorithm>
#include <numeric>

#include "failed_states.h"
#include "greedy.h"
#include "ordered_fit.h"

namespace mrvlc::alloc {
namespace {

class SqueakyWheel {
 public:
  SqueakyWheel(const Problem& problem, int64_t goal, Layout& best, Budget& budget)
      : problem_(problem), goal_(goal), best_(best), budget_(budget), conflicts_(problem) {}

  void run(uint64_t last_step) {
    if (!conflicts_.known()) return;
    size_t n = problem_.boxes.size();
    Layout now = best_;
    order_.resize(n);
    rank_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    // Replayed in the order of the offsets, a layout stays what it is or sinks.
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return now.offsets[a] < now.offsets[b]; });
    while (best_.peak > goal_ && budget_.steps < last_step) {
      reorder(now);
      now = place_in_order(problem_, conflicts_, order_, random(4) == 0, INT64_MAX, budget_);
      budget_.steps += n / 4;
      if (now.peak < best_.peak) best_ = now;
    }
  }

 private:
  size_t random(size_t n) { return static_cast<size_t>((state_ = mix(state_)) % n); }

  // Each box above the goal moves in front of one that it meets and that came before it.
  void reorder(const Layout& now) {
    for (size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = static_cast<double>(i);
    for (uint32_t b : Order(order_)) {
      if (now.offsets[b] + problem_.boxes[b].size <= goal_) continue;
      auto others = conflicts_.of(b);
      uint32_t other = others[random(others.size())];
      if (rank_[other] < rank_[b]) rank_[b] = rank_[other] - 0.5;
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return rank_[a] < rank_[b]; });
  }

  const Problem& problem_;
  int64_t goal_;
  Layout& best_;
  Budget& budget_;
  Conflicts conflicts_;
  Order order_;
  std::vector<double> rank_;
  uint64_t state_ = 1;
};

}  // namespace

void improve(const Problem& problem, int64_t goal, uint64_t step_limit, Layout& best, Budget& budget) {
  SqueakyWheel(problem, goal, best, budget).run(std::min(budget.limit, budget.steps + step_limit));
}

}  // namespace mrvlc::alloc
