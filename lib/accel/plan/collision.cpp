// Rectangles of what tiles make, compared pair by pair.
#include "plan/collision.h"

#include <algorithm>

namespace mrvlc::accel {
namespace {

// Whether `holds(tile, rectangle, tile, rectangle)` for some part of the buffer that each makes.
bool any_pair(const TouchedByTile& a, const TouchedByTile& b, uint32_t buffer, const auto& holds) {
  const auto makes = [&](const Touch& t) { return t.write && t.buffer == buffer; };
  for (size_t p = 0; p < a.size(); ++p)
    for (const Touch& x : a[p])
      for (size_t q = 0; q < b.size() && makes(x); ++q)
        for (const Touch& y : b[q])
          if (makes(y) && holds(p, x.rect, q, y.rect)) return true;
  return false;
}

}  // namespace

std::vector<uint32_t> colliding(const TouchedByTile& touched) {
  std::vector<uint32_t> out;
  for (const std::vector<Touch>& tile : touched)
    for (const Touch& t : tile)
      if (t.write && std::ranges::find(out, t.buffer) == out.end() && collide(touched, touched, t.buffer))
        out.push_back(t.buffer);
  return out;
}

bool collide(const TouchedByTile& a, const TouchedByTile& b, uint32_t buffer) {
  return any_pair(a, b, buffer, [](size_t p, const Rect& x, size_t q, const Rect& y) {
    return p != q && !meet(x, y).empty();
  });
}

bool far_apart(const TouchedByTile& a, const TouchedByTile& b, uint32_t buffer, int64_t most) {
  return any_pair(a, b, buffer, [&](size_t p, const Rect& x, size_t q, const Rect& y) {
    return p == q && hull(x, y).bytes() > most;
  });
}

}  // namespace mrvlc::accel
