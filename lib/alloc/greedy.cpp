// A sweep over time with best and first fit, then fits in the order of load, size, area and length of life.
#include "greedy.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ordered_fit.h"

namespace mrvlc::alloc {
namespace {

// In the order of time, each where the gap between those alive is the smallest that holds it, or the lowest.
// Work is items times those alive, so this is what very large problems get.
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
      std::erase_if(alive_, [&](const Alive& a) { return gone(a.box, box); });
      budget_.steps += 1 + alive_.size() / 4;
      size_t at = 0;
      int64_t offset = find(box.size, at);
      alive_.insert(alive_.begin() + static_cast<std::ptrdiff_t>(at), {b, offset, offset + box.size});
      out.offsets[b] = offset;
      out.peak = std::max(out.peak, offset + box.size);
    }
    return out;
  }

 private:
  struct Alive {
    uint32_t box;
    int64_t offset, top;
  };

  bool gone(uint32_t old, const Box& now) const {
    const Box& b = problem_.boxes[old];
    return backward_ ? b.begin >= now.end : b.end <= now.begin;
  }

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

  // `at`: index in alive_, which is in order of offset.
  int64_t find(int64_t size, size_t& at) const {
    int64_t end = 0, found = -1, found_gap = INT64_MAX;
    for (size_t i = 0; i < alive_.size(); ++i) {
      int64_t gap = alive_[i].offset - end;
      if (gap >= size && gap < found_gap) {
        found = end;
        found_gap = gap;
        at = i;
        if (!best_fit_) return found;
      }
      end = std::max(end, alive_[i].top);
    }
    if (found >= 0) return found;
    at = alive_.size();
    return end;
  }

  const Problem& problem_;
  bool backward_, best_fit_;
  Budget& budget_;
  std::vector<Alive> alive_;
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
