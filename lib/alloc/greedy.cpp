// A sweep over time with best and first fit, then fits in the order of load, size, area and length of life.
#include "greedy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>

#include "ordered_fit.h"

namespace mrvlc::alloc {
namespace {

// What is free below the highest that is alive. Two gaps never touch.
class Gaps {
 public:
  // The smallest that holds `size`, the lowest of those; -1: none.
  int64_t best_fit(int64_t size) const {
    const auto it = by_size_.lower_bound({size, 0});
    return it == by_size_.end() ? -1 : it->second;
  }
  // The lowest that holds `size`.
  int64_t first_fit(int64_t size) const {
    for (const auto& [offset, end] : ends_)
      if (end - offset >= size) return offset;
    return -1;
  }
  // `offset`: where a gap begins, of `size` at least.
  void take(int64_t offset, int64_t size) {
    const int64_t end = remove(ends_.find(offset));
    if (offset + size < end) insert(offset + size, end);
  }
  void give(int64_t offset, int64_t end) {
    const auto above = ends_.lower_bound(offset);
    if (above != ends_.begin() && std::prev(above)->second == offset) {
      const auto below = std::prev(above);
      offset = below->first;
      remove(below);
    }
    if (above != ends_.end() && above->first == end) end = remove(above);
    insert(offset, end);
  }
  // Takes the gap that ends there away, and returns where it begins; `end` where there is none.
  int64_t drop_below(int64_t end) {
    if (ends_.empty() || std::prev(ends_.end())->second != end) return end;
    const auto last = std::prev(ends_.end());
    const int64_t offset = last->first;
    remove(last);
    return offset;
  }
  size_t size() const { return ends_.size(); }

 private:
  using Ends = std::map<int64_t, int64_t>;
  void insert(int64_t offset, int64_t end) {
    ends_.emplace(offset, end);
    by_size_.emplace(end - offset, offset);
  }
  int64_t remove(Ends::const_iterator gap) {
    const auto [offset, end] = *gap;
    by_size_.erase({end - offset, offset});
    ends_.erase(gap);
    return end;
  }
  Ends ends_;                                      // by offset
  std::set<std::pair<int64_t, int64_t>> by_size_;  // size, offset
};

// In the order of time, each where the gap between those alive is the smallest that holds it, or the lowest.
// Work is items times gaps, or the logarithm of them, so this is what very large problems get.
class Sweep {
 public:
  Sweep(const Problem& problem, bool backward, bool best_fit, Budget& budget)
      : problem_(problem), backward_(backward), best_fit_(best_fit), budget_(budget) {}

  Layout run() {
    Layout out;
    out.peak = 0;
    out.offsets.resize(problem_.boxes.size());
    for (uint32_t b : order()) {
      const Box& box = problem_.boxes[b];
      while (!alive_.empty() && alive_.top().gone <= moment(box)) end_of(alive_.top()), alive_.pop();
      budget_.steps += 1 + gaps_.size() / 4;
      const int64_t offset = place(box.size);
      alive_.push({backward_ ? -int64_t{box.begin} : box.end, offset, offset + box.size});
      out.offsets[b] = offset;
      out.peak = std::max(out.peak, offset + box.size);
    }
    return out;
  }

 private:
  // Time runs with the sweep: backwards it is negative.
  struct Alive {
    int64_t gone, offset, top;
    bool operator>(const Alive& o) const { return gone > o.gone; }
  };
  int64_t moment(const Box& b) const { return backward_ ? -int64_t{b.end} : b.begin; }

  // At one moment the long-lived go first: they sink to the bottom.
  std::vector<uint32_t> order() const {
    std::vector<uint32_t> o(problem_.boxes.size());
    std::iota(o.begin(), o.end(), 0u);
    std::stable_sort(o.begin(), o.end(), [&](uint32_t x, uint32_t y) {
      const Box &a = problem_.boxes[x], &b = problem_.boxes[y];
      if (backward_) return std::tie(b.end, a.begin, b.size) < std::tie(a.end, b.begin, a.size);
      return std::tie(a.begin, b.end, b.size) < std::tie(b.begin, a.end, a.size);
    });
    return o;
  }

  int64_t place(int64_t size) {
    const int64_t found = best_fit_ ? gaps_.best_fit(size) : gaps_.first_fit(size);
    if (found >= 0) return gaps_.take(found, size), found;
    top_ += size;
    return top_ - size;
  }

  void end_of(const Alive& a) {
    gaps_.give(a.offset, a.top);
    top_ = gaps_.drop_below(top_);
  }

  const Problem& problem_;
  bool backward_, best_fit_;
  Budget& budget_;
  int64_t top_ = 0;  // of the highest that is alive
  Gaps gaps_;
  std::priority_queue<Alive, std::vector<Alive>, std::greater<>> alive_;  // the next to go on top
};

void keep_better(Layout& best, Layout found) {
  if (found.peak < best.peak) best = std::move(found);
}

template <class Key>
Order sorted(const Problem& p, Key key) {
  Order order(p.boxes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(p.boxes[a]) > key(p.boxes[b]); });
  return order;
}

// How far a box is from the section of the greatest load.
int64_t distance(const Box& b, int64_t peak) {
  if (b.begin > peak) return b.begin - peak;
  return std::max<int64_t>(0, peak - b.end + 1);
}

std::vector<Order> start_orders(const Problem& p) {
  auto length = [](const Box& b) { return int64_t{b.end} - int64_t{b.begin}; };
  auto area = [&](const Box& b) { return static_cast<double>(b.size) * static_cast<double>(length(b)); };
  int64_t peak = std::max_element(p.load.begin(), p.load.end()) - p.load.begin();
  auto crowd = [&](const Box& b) {
    return *std::max_element(p.load.begin() + b.begin, p.load.begin() + b.end);
  };
  return {sorted(p, [&](const Box& b) { return std::pair(crowd(b), b.size); }),
          sorted(p, [&](const Box& b) { return std::pair(crowd(b), area(b)); }),
          sorted(p, [&](const Box& b) { return std::tuple(crowd(b), length(b), b.size); }),
          sorted(p, [](const Box& b) { return b.size; }),
          sorted(p, [&](const Box& b) { return std::pair(length(b), b.size); }),
          sorted(p, [&](const Box& b) { return area(b); }),
          sorted(p, [&](const Box& b) { return std::pair(-distance(b, peak), area(b)); }),
          sorted(p, [&](const Box& b) { return std::tuple(-distance(b, peak), length(b), b.size); })};
}

}  // namespace

Layout greedy(const Problem& problem, int64_t goal, Budget& budget) {
  Layout best;
  for (bool backward : {false, true}) {
    for (bool best_fit : {true, false}) {
      keep_better(best, Sweep(problem, backward, best_fit, budget).run());
      if (best.peak <= goal || budget.spent()) return best;
    }
  }
  Conflicts conflicts(problem);
  if (!conflicts.known()) return best;
  for (const Order& order : start_orders(problem)) {
    for (bool best_fit : {false, true}) {
      keep_better(best, place_in_order(problem, conflicts, order, best_fit, best.peak - 1, budget));
      if (best.peak <= goal || budget.spent()) return best;
    }
  }
  return best;
}

}  // namespace mrvlc::alloc
