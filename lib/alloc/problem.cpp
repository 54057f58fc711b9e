// Live ranges cut into sections and independent parts; loads of sections, which bound the peak from below.
#include "problem.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "mrvlc/support/checked.h"

namespace mrvlc::alloc {
namespace {

bool occupies(const Item& i) {
  return i.size > 0 && i.begin < i.end;
}

struct Event {
  int64_t time;
  bool begins;  // at one time, ends come first
  uint32_t item;
  bool operator<(const Event& o) const {
    return std::tie(time, begins, item) < std::tie(o.time, o.begins, o.item);
  }
};

// Sections of the whole time. One is complete when an item ends after another has begun.
struct Sections {
  std::vector<Box> boxes;  // of each item, size 0 when it occupies nothing
  uint32_t count = 0;
};

// Begins and ends of all live ranges, in order of time.
std::vector<Event> events_of(const std::vector<Item>& items) {
  std::vector<Event> events;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (!occupies(items[i])) continue;
    events.push_back({items[i].begin, true, i});
    events.push_back({items[i].end, false, i});
  }
  std::sort(events.begin(), events.end());
  return events;
}

Sections cut(const std::vector<Item>& items) {
  Sections s;
  s.boxes.resize(items.size());
  bool open = false;
  for (const Event& e : events_of(items)) {
    if (e.begins) {
      s.boxes[e.item].begin = s.count;
      open = true;
      continue;
    }
    s.count += open;
    open = false;
    s.boxes[e.item].end = s.count;
  }
  return s;
}

// Where a new part begins: sections that share no item with the one before.
std::vector<uint32_t> part_of_section(const Sections& s) {
  std::vector<uint32_t> reach(s.count, 0);  // greatest end of the items that begin here
  for (const Box& b : s.boxes)
    if (b.end > 0) reach[b.begin] = std::max(reach[b.begin], b.end);
  std::vector<uint32_t> part(s.count, 0);
  uint32_t current = 0, furthest = s.count == 0 ? 0 : reach[0];
  for (uint32_t i = 1; i < s.count; ++i) {
    current += furthest <= i;
    part[i] = current;
    furthest = std::max(furthest, reach[i]);
  }
  return part;
}

}  // namespace

void add_up(Problem& p) {
  std::vector<int64_t> change(p.sections + 1, 0);
  for (const Box& b : p.boxes) {
    change[b.begin] += b.size;
    change[b.end] -= b.size;
  }
  p.load.resize(p.sections);
  int64_t load = 0;
  for (uint32_t s = 0; s < p.sections; ++s) p.load[s] = load += change[s];
  p.lower_bound = *std::max_element(p.load.begin(), p.load.end());
}

Instance normalise(const std::vector<Item>& items, int64_t alignment) {
  Instance out;
  Sections s = cut(items);
  int64_t unit = 0;
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (!occupies(items[i])) continue;
    s.boxes[i].size = round_up(items[i].size, alignment);
    unit = std::gcd(unit, s.boxes[i].size);
    order.push_back(i);
  }
  if (order.empty()) return out;
  out.unit = unit;
  // Down to size, so that the answer hardly depends on the order of the caller.
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Box &x = s.boxes[a], &y = s.boxes[b];
    return std::tie(x.begin, x.end, y.size, a) < std::tie(y.begin, y.end, x.size, b);
  });
  std::vector<uint32_t> part = part_of_section(s), first;
  for (uint32_t i = 0; i < s.count; ++i)
    if (i == 0 || part[i] != part[i - 1]) first.push_back(i);
  first.push_back(s.count);
  out.parts.resize(first.size() - 1);
  for (uint32_t i : order) {
    uint32_t p = part[s.boxes[i].begin];
    out.parts[p].boxes.push_back(
        {s.boxes[i].begin - first[p], s.boxes[i].end - first[p], s.boxes[i].size / unit, -1});
    out.parts[p].items.push_back(i);
  }
  for (size_t p = 0; p < out.parts.size(); ++p) {
    out.parts[p].sections = first[p + 1] - first[p];
    add_up(out.parts[p]);
    out.lower_bound = std::max(out.lower_bound, out.parts[p].lower_bound);
  }
  return out;
}

Peak peak_load(const std::vector<Item>& items, int64_t alignment) {
  Peak peak;
  int64_t load = 0;
  for (const Event& e : events_of(items)) {
    int64_t size = round_up(items[e.item].size, alignment);
    load += e.begins ? size : -size;
    if (load > peak.bytes) peak = {e.time, load, {}};
  }
  for (uint32_t i = 0; i < items.size(); ++i)
    if (occupies(items[i]) && items[i].begin <= peak.time && peak.time < items[i].end)
      peak.items.push_back(i);
  std::stable_sort(peak.items.begin(), peak.items.end(),
                   [&](uint32_t a, uint32_t b) { return items[a].size > items[b].size; });
  return peak;
}

}  // namespace mrvlc::alloc
