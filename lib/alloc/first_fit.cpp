// Storage that is given and taken back step by step, at the lowest free offset.
#include <algorithm>

#include "mrvlc/alloc/alloc.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::alloc {

std::optional<int64_t> FirstFit::find(const Item& item) const {
  if (item.size <= 0 || item.begin >= item.end) return 0;
  int64_t size = round_up(item.size, alignment_), at = 0;
  for (const Interval& p : placed_) {
    if (p.offset >= at + size) break;
    if (p.begin < item.end && item.begin < p.end) at = std::max(at, round_up(p.top, alignment_));
  }
  if (at > capacity_ - size) return std::nullopt;
  return at;
}

std::optional<int64_t> FirstFit::place(const Item& item) {
  std::optional<int64_t> offset = find(item);
  if (offset) keep(item, *offset);
  return offset;
}

void FirstFit::keep(const Item& item, int64_t offset) {
  if (item.size <= 0 || item.begin >= item.end) return;
  auto at = std::upper_bound(placed_.begin(), placed_.end(), offset,
                             [](int64_t o, const Interval& p) { return o < p.offset; });
  placed_.insert(at, {offset, offset + round_up(item.size, alignment_), item.begin, item.end});
}

bool FirstFit::remove(const Item& item, int64_t offset) {
  int64_t top = offset + round_up(item.size, alignment_);
  auto at = std::find_if(placed_.begin(), placed_.end(), [&](const Interval& p) {
    return p.offset == offset && p.top == top && p.begin == item.begin && p.end == item.end;
  });
  if (at == placed_.end()) return false;
  placed_.erase(at);
  return true;
}

int64_t FirstFit::peak() const {
  int64_t top = 0;
  for (const Interval& p : placed_) top = std::max(top, p.top);
  return top;
}

}  // namespace mrvlc::alloc
