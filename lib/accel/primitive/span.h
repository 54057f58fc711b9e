// A stretch [begin, end) of rows, columns or channels, and its share-out among tiles.
#pragma once
#include <algorithm>
#include <cstdint>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {

struct Span {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool operator==(const Span&) const = default;
};

// The stretch from the first to the last of both; an empty one adds nothing.
inline Span hull(Span a, Span b) {
  if (a.empty()) return b;
  return b.empty() ? a : Span{std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// Part `index` of `parts` of [0, total), in multiples of `align`.
inline Span part_of(int64_t total, int64_t parts, int64_t index, int64_t align) {
  int64_t share = round_up(ceil_div(total, parts), align);
  return {std::min(total, index * share), std::min(total, (index + 1) * share)};
}

}  // namespace mrvlc::accel
