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
    Order first;
    for (const Order& order : start_orders()) {
      constexpr int64_t kUnlimited = int64_t{1} << 60;
      int64_t before = best_.offsets.empty() ? kUnlimited : best_.bytes;
      if (try_order(order, kUnlimited) < before) first = order;
    }
    try_order(first, best_.bytes);
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

  // Plans in the given order, by first and by best fit, and keeps the better one if it beats the best so far.
  // Gives up on an order as soon as it needs more than `limit`; returns the bytes needed, or more than
  // `limit`.
  int64_t try_order(const Order& order, int64_t limit) {
    int64_t least = limit + 1;
    for (bool best_fit : {false, true}) {
      std::vector<int64_t> offsets(buffers_.size(), -1);
      int64_t bytes = 0;
      for (uint32_t b : order) {
        offsets[b] = find_gap(b, offsets, best_fit);
        bytes = std::max(bytes, offsets[b] + buffers_[b].size);
        work_ += 8 + static_cast<int64_t>(conflicts_[b].size());
        if (bytes > limit) break;
      }
      if (bytes >= least) continue;
      least = bytes;
      if (best_.offsets.empty() || bytes < best_.bytes) {
        best_.bytes = bytes;
        best_.offsets = offsets;
      }
      current_offsets_ = std::move(offsets);
      current_order_ = order;
    }
    return least;
  }

  // A buffer that reaches the top is placed before one of those it conflicts with. Plans that are no worse
  // are accepted, so the search walks along plateaus; now and then one that is slightly worse, to leave a
  // dead end.
  void improve() {
    constexpr int64_t kWork = 60'000'000;  // conflicts looked at; about a second
    uint64_t state = 0x9e3779b97f4a7c15u;
    auto random = [&](size_t n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<size_t>((state >> 33) % n);
    };
    int64_t bytes = best_.bytes;
    while (best_.bytes > best_.lower_bound && work_ < kWork) {
      Order order = current_order_, top;
      for (uint32_t b = 0; b < buffers_.size(); ++b) {
        if (current_offsets_[b] + buffers_[b].size == bytes) top.push_back(b);
      }
      move_forward(order, top[random(top.size())], random);
      if (random(3) == 0) std::swap(order[random(order.size())], order[random(order.size())]);
      int64_t slack = random(40) == 0 ? bytes / 50 : 0;
      int64_t found = try_order(order, bytes + slack);
      if (found <= bytes + slack) bytes = found;
    }
  }

  template <class Random>
  void move_forward(Order& order, uint32_t buffer, Random& random) const {
    auto at = std::find(order.begin(), order.end(), buffer);
    const Order& others = conflicts_[buffer];
    auto before =
        others.empty() ? order.begin() : std::find(order.begin(), order.end(), others[random(others.size())]);
    if (before < at) {
      std::rotate(before, at, at + 1);
    } else {
      std::rotate(at, at + 1, before);
    }
  }

  std::vector<Buffer> buffers_;
  std::vector<Order> conflicts_;
  ArenaPlan best_;
  std::vector<int64_t> current_offsets_;
  Order current_order_;
  int64_t work_ = 0;
};

}  // namespace

ArenaPlan plan_arena(const std::vector<Buffer>& buffers, int64_t alignment) {
  return Planner(buffers, alignment).run();
}

}  // namespace mrvlc::chost
