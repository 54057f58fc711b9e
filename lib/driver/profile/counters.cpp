// DDR traffic and on-chip memory over time, from the bars and ranges of a region.
#include "profile/counters.h"

#include <algorithm>
#include <set>

namespace mrvlc::driver {
namespace {

// Bytes held of a sorted set of ranges.
uint64_t covered(const std::multiset<std::pair<uint32_t, uint32_t>>& ranges) {
  uint64_t bytes = 0;
  uint32_t reached = 0;
  for (const auto& [begin, end] : ranges) {
    const uint32_t from = std::max(begin, reached);
    if (end <= from) continue;
    bytes += end - from;
    reached = end;
  }
  return bytes;
}

void add_step(std::vector<CounterStep>& steps, uint64_t at, uint64_t value) {
  if (!steps.empty() && steps.back().value == value) return;
  steps.push_back({at, value});
}

}  // namespace

std::vector<CounterStep> ddr_bytes(const report::Region& region, uint8_t queue, uint64_t window) {
  std::vector<uint64_t> bytes(region.cycles() / window + 1, 0);
  for (const report::Bar& bar : region.bars) {
    if (bar.queue != queue || bar.bytes == 0) continue;
    const uint64_t length = std::max<uint64_t>(bar.moved - bar.begin, 1);
    uint64_t told = 0;  // of the bar's bytes, up to the window's end; rounded down, the last has the rest
    for (uint64_t w = bar.begin / window; told < bar.bytes; ++w) {
      if (w >= bytes.size()) bytes.resize(w + 1, 0);
      const uint64_t passed = std::min((w + 1) * window - bar.begin, length);
      const uint64_t now = passed == length ? bar.bytes : bar.bytes * passed / length;
      bytes[w] += now - told;
      told = now;
      if (passed == length) break;
    }
  }
  std::vector<CounterStep> steps;
  for (uint64_t w = 0; w < bytes.size(); ++w) add_step(steps, w * window, bytes[w]);
  add_step(steps, bytes.size() * window, 0);
  return steps;
}

std::vector<CounterStep> held_bytes(const report::Region& region, uint32_t tile) {
  struct Change {
    uint64_t at;
    bool ends;
    std::pair<uint32_t, uint32_t> range;
  };
  std::vector<Change> changes;
  for (const report::MemoryUse& u : region.memory) {
    if ((u.tiles >> tile & 1) == 0 || u.stop <= u.start) continue;  // held for no time
    changes.push_back({u.start, false, {u.begin, u.end}});
    changes.push_back({u.stop, true, {u.begin, u.end}});
  }
  std::ranges::stable_sort(changes, {}, [](const Change& c) { return std::pair(c.at, !c.ends); });
  std::multiset<std::pair<uint32_t, uint32_t>> held;
  std::vector<CounterStep> steps;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].ends)
      held.erase(held.find(changes[i].range));
    else
      held.insert(changes[i].range);
    if (i + 1 == changes.size() || changes[i + 1].at != changes[i].at)
      add_step(steps, changes[i].at, covered(held));
  }
  return steps;
}

}  // namespace mrvlc::driver
