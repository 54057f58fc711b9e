// Which boxes meet in time, as lists, and the first or smallest gap among those of them that are placed.
#include "ordered_fit.h"

#include <algorithm>

namespace mrvlc::alloc {
namespace {

// The list holds both boxes of a pair, four bytes each: 64 MiB at the most.
constexpr size_t kMaxPairs = size_t{8} << 20;

// Calls f(a, b) for every pair that meets, until it returns false. Boxes are in the order of their begin.
template <class F>
bool for_each_pair(const Problem& p, F f) {
  std::vector<uint32_t> alive;
  for (uint32_t b = 0; b < p.boxes.size(); ++b) {
    std::erase_if(alive, [&](uint32_t a) { return p.boxes[a].end <= p.boxes[b].begin; });
    for (uint32_t a : alive)
      if (!f(a, b)) return false;
    alive.push_back(b);
  }
  return true;
}

struct Interval {
  int64_t begin, end;
  bool operator<(const Interval& o) const { return begin < o.begin; }
};

int64_t find_gap(std::vector<Interval>& taken, int64_t size, bool best_fit) {
  std::sort(taken.begin(), taken.end());
  int64_t end = 0, found = -1, found_gap = INT64_MAX;
  for (const Interval& t : taken) {
    int64_t gap = t.begin - end;
    if (gap >= size && gap < found_gap) {
      if (!best_fit) return end;
      found = end;
      found_gap = gap;
    }
    end = std::max(end, t.end);
  }
  return found < 0 ? end : found;
}

}  // namespace

Conflicts::Conflicts(const Problem& p) {
  size_t pairs = 0;
  std::vector<size_t> count(p.boxes.size() + 1, 0);
  known_ = for_each_pair(p, [&](uint32_t a, uint32_t b) {
    ++count[a];
    ++count[b];
    return ++pairs <= kMaxPairs;
  });
  if (!known_) return;
  first_.resize(p.boxes.size() + 1, 0);
  for (size_t i = 0; i < p.boxes.size(); ++i) first_[i + 1] = first_[i] + count[i];
  list_.resize(2 * pairs);
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for_each_pair(p, [&](uint32_t a, uint32_t b) {
    list_[next[a]++] = b;
    list_[next[b]++] = a;
    return true;
  });
}

Layout place_in_order(const Problem& p, const Conflicts& conflicts, const Order& order, bool best_fit,
                      int64_t limit, Budget& budget) {
  Layout out;
  out.offsets.assign(p.boxes.size(), -1);
  int64_t peak = 0;
  std::vector<Interval> taken;
  for (uint32_t b : order) {
    taken.clear();
    for (uint32_t c : conflicts.of(b))
      if (out.offsets[c] >= 0) taken.push_back({out.offsets[c], out.offsets[c] + p.boxes[c].size});
    budget.steps += 1 + (conflicts.of(b).size() + 3 * taken.size()) / 8;
    out.offsets[b] = find_gap(taken, p.boxes[b].size, best_fit);
    peak = std::max(peak, out.offsets[b] + p.boxes[b].size);
    if (peak > limit) return out;
  }
  out.peak = peak;
  return out;
}

}  // namespace mrvlc::alloc
