// Static memory planning: place buffers one after the other at the lowest or the tightest free gap among
// those alive at the same time. The order decides the quality, so several orders are tried and the best is
// improved by moving the buffers that stick out to the front (a bounded, deterministic local search).
#include <algorithm>
#include <numeric>

#include "mrvlc/chost/chost.h"

namespace mrvlc::chost {
namespace {

using Order = std::vector<uint32_t>;

class Planner {
 public:
  Planner(const std::vector<Buffer>& buffers, int64_t alignment) {
    for (const Buffer& b : buffers) buffers_.push_back({round_up(b.size, alignment), b.first, b.last});
    best_.lower_bound = lower_bound();
    find_conflicts();
  }

  ArenaPlan run() {
    if (buffers_.empty()) return best_;
    for (const Order& order : start_orders()) try_order(order);
    improve();
    return best_;
  }

 private:
  bool overlap(uint32_t a, uint32_t b) const {
    return buffers_[a].first <= buffers_[b].last && buffers_[b].first <= buffers_[a].last;
  }

  void find_conflicts() {
    conflicts_.resize(buffers_.size());
    Order by_first(buffers_.size());
    std::iota(by_first.begin(), by_first.end(), 0u);
    std::stable_sort(by_first.begin(), by_first.end(),
                     [&](uint32_t a, uint32_t b) { return buffers_[a].first < buffers_[b].first; });
    Order alive;
    for (uint32_t b : by_first) {
      std::erase_if(alive, [&](uint32_t a) { return !overlap(a, b); });
      for (uint32_t a : alive) {
        conflicts_[a].push_back(b);
        conflicts_[b].push_back(a);
      }
      alive.push_back(b);
    }
  }

  int64_t lower_bound() const {
    std::vector<std::pair<uint64_t, int64_t>> events;  // (step, change); ends after the step
    for (const Buffer& b : buffers_) {
      events.emplace_back(b.first, b.size);
      events.emplace_back(uint64_t{b.last} + 1, -b.size);
    }
    std::sort(events.begin(), events.end());
    int64_t alive = 0, most = 0;
    for (auto [step, change] : events) most = std::max(most, alive += change);
    return most;
  }

  template <class Key>
  Order sorted(Key key) const {
    Order order(buffers_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return key(buffers_[a]) > key(buffers_[b]); });
    return order;
  }

  std::vector<Order> start_orders() const {
    auto life = [](const Buffer& b) { return int64_t{b.last} - int64_t{b.first} + 1; };
    auto area = [&](const Buffer& b) { return static_cast<double>(b.size) * static_cast<double>(life(b)); };
    return {sorted([](const Buffer& b) { return b.size; }),
            sorted([&](const Buffer& b) { return std::pair(life(b), b.size); }),
            sorted([&](const Buffer& b) { return area(b); }),
            sorted([](const Buffer& b) { return std::pair(-int64_t{b.first}, b.size); }),
            sorted([](const Buffer& b) { return std::pair(int64_t{b.last}, b.size); })};
  }

  // Offset for buffer b: the smallest gap that holds it (best fit), or the lowest one (first fit).
  int64_t find_gap(uint32_t b, const std::vector<int64_t>& offsets, bool best_fit) const {
    std::vector<std::pair<int64_t, int64_t>> taken;  // (begin, end)
    for (uint32_t c : conflicts_[b]) {
      if (offsets[c] >= 0) taken.emplace_back(offsets[c], offsets[c] + buffers_[c].size);
    }
    std::sort(taken.begin(), taken.end());
    int64_t end = 0, found = -1, found_gap = 0;
    for (auto [lo, hi] : taken) {
      int64_t gap = lo - end;
      if (gap >= buffers_[b].size && (found < 0 || (best_fit && gap < found_gap))) {
        found = end;
        found_gap = gap;
      }
      end = std::max(end, hi);
    }
    return found < 0 ? end : found;
  }

  // True when the order gave a better plan.
  bool try_order(const Order& order) {
    bool better = false;
    for (bool best_fit : {false, true}) {
      std::vector<int64_t> offsets(buffers_.size(), -1);
      int64_t bytes = 0;
      for (uint32_t b : order) {
        offsets[b] = find_gap(b, offsets, best_fit);
        bytes = std::max(bytes, offsets[b] + buffers_[b].size);
        if (!best_.offsets.empty() && bytes >= best_.bytes) break;
      }
      work_ += static_cast<int64_t>(order.size());
      if (!best_.offsets.empty() && bytes >= best_.bytes) continue;
      best_.offsets = std::move(offsets);
      best_.bytes = bytes;
      best_order_ = order;
      better = true;
    }
    return better;
  }

  void improve() {
    constexpr int64_t kWork = 2'000'000;  // placements; keeps planning under about a second
    uint64_t state = 0x9e3779b97f4a7c15u;
    auto random = [&](size_t n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<size_t>((state >> 33) % n);
    };
    while (best_.bytes > best_.lower_bound && work_ < kWork) {
      Order order = best_order_;
      // A buffer that reaches the top goes to the front, then two random ones change places.
      Order top;
      for (uint32_t b = 0; b < buffers_.size(); ++b) {
        if (best_.offsets[b] + buffers_[b].size == best_.bytes) top.push_back(b);
      }
      auto it = std::find(order.begin(), order.end(), top[random(top.size())]);
      size_t from = static_cast<size_t>(it - order.begin());
      size_t to = random(from + 1);
      std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), it, it + 1);
      for (size_t i = random(3); i > 0; --i)
        std::swap(order[random(order.size())], order[random(order.size())]);
      try_order(order);
    }
  }

  std::vector<Buffer> buffers_;
  std::vector<Order> conflicts_;
  ArenaPlan best_;
  Order best_order_;
  int64_t work_ = 0;
};

}  // namespace

ArenaPlan plan_arena(const std::vector<Buffer>& buffers, int64_t alignment) {
  return Planner(buffers, alignment).run();
}

}  // namespace mrvlc::chost
