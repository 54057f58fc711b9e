// Neighbouring bars and stretches merged into spans of doubled length, small rectangles of memory left out.
#include "reduce.h"

#include <algorithm>

namespace mrvlc::report {
namespace {

// One pass of merging neighbours while their span is at most `widest`; `longest` tells which of a span speaks
// for it, `join` extends the first argument by the second.
template <class T, class Join>
void merge_neighbours(std::vector<T>& list, uint64_t widest, Join join) {
  size_t kept = 0;
  uint64_t longest = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    uint64_t length = list[i].end - list[i].start;
    bool fits = kept > 0 && std::max(list[i].end, list[kept - 1].end) - list[kept - 1].start <= widest;
    if (!fits) {
      list[kept++] = list[i];
      longest = length;
      continue;
    }
    join(list[kept - 1], list[i], length > longest);
    longest = std::max(longest, length);
  }
  list.resize(kept);
}

void join_bars(Bar& into, const Bar& bar, bool speaks) {
  into.moved = std::max(into.moved, bar.moved);
  into.end = std::max(into.end, bar.end);
  into.wait = 0;
  into.bytes += bar.bytes;
  into.count += bar.count;
  if (!speaks) return;
  into.layer = bar.layer;
  into.bound = bar.bound;
}

void join_stretches(Stretch& into, const Stretch& stretch, bool speaks) {
  into.end = std::max(into.end, stretch.end);
  if (!speaks) return;
  into.layer = stretch.layer;
  into.bound = stretch.bound;
}

}  // namespace

Lanes lanes_of(const Region& region) {
  Lanes lanes(size_t{region.tiles} * kQueues);
  for (const Bar& bar : region.bars) {
    size_t lane = size_t{bar.tile} * kQueues + bar.queue;
    if (lane < lanes.size()) lanes[lane].push_back(bar);
  }
  for (auto& lane : lanes) {
    std::ranges::stable_sort(lane, {}, [](const Bar& b) { return std::pair(b.start, b.instruction); });
  }
  return lanes;
}

size_t bar_count(const Lanes& lanes) {
  size_t count = 0;
  for (const auto& lane : lanes) count += lane.size();
  return count;
}

uint64_t merge_bars(Lanes& lanes, size_t limit) {
  if (bar_count(lanes) <= limit) return 0;
  for (uint64_t widest = 64;; widest *= 2) {
    for (auto& lane : lanes) merge_neighbours(lane, widest, join_bars);
    auto one = [](const auto& lane) { return lane.size() <= 1; };
    if (bar_count(lanes) <= limit || std::ranges::all_of(lanes, one)) return widest;
  }
}

uint64_t merge_path(std::vector<Stretch>& path, size_t limit) {
  if (path.size() <= limit) return 0;
  for (uint64_t widest = 64;; widest *= 2) {
    merge_neighbours(path, widest, join_stretches);
    if (path.size() <= std::max<size_t>(limit, 1)) return widest;
  }
}

size_t drop_memory(std::vector<MemoryUse>& uses, size_t limit) {
  if (uses.size() <= limit) return 0;
  auto area = [](const MemoryUse& u) {
    return static_cast<double>(u.end - u.begin) * static_cast<double>(u.stop - u.start + 1);
  };
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < uses.size(); ++i) order.emplace_back(-area(uses[i]), i);
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(limit));
  order.resize(limit);
  std::ranges::sort(order, {}, &std::pair<double, size_t>::second);
  std::vector<MemoryUse> kept;
  for (const auto& [negative, i] : order) kept.push_back(std::move(uses[i]));
  size_t gone = uses.size() - limit;
  uses = std::move(kept);
  return gone;
}

}  // namespace mrvlc::report
