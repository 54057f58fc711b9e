// Rectangles met, joined, and found around strided accesses.
#include "primitive/rect.h"

#include <algorithm>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {

Rect meet(const Rect& a, const Rect& b) {
  return {std::max(a.row0, b.row0), std::min(a.row1, b.row1), std::max(a.byte0, b.byte0),
          std::min(a.byte1, b.byte1)};
}

Rect hull(const Rect& a, const Rect& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.row0, b.row0), std::max(a.row1, b.row1), std::min(a.byte0, b.byte0),
          std::max(a.byte1, b.byte1)};
}

bool contains(const Rect& outer, const Rect& inner) {
  return inner.empty() || (outer.row0 <= inner.row0 && inner.row1 <= outer.row1 &&
                           outer.byte0 <= inner.byte0 && inner.byte1 <= outer.byte1);
}

Rect rect_of(int64_t first, std::span<const Walk> walks, int64_t element_bytes, int64_t pitch) {
  int64_t row = first / pitch, byte = first % pitch;
  int64_t rows_down = 0, rows_up = 0, bytes_down = 0, bytes_up = 0, down = 0, up = 0;
  for (const Walk& w : walks) {
    if (w.count <= 1 || w.stride == 0) continue;
    int64_t reach = (w.count - 1) * w.stride;
    (reach < 0 ? down : up) += reach;
    bool by_rows = w.stride % pitch == 0;
    if (by_rows) {
      (reach < 0 ? rows_down : rows_up) += reach / pitch;
    } else {
      (reach < 0 ? bytes_down : bytes_up) += reach;
    }
  }
  if (byte + bytes_down >= 0 && byte + bytes_up + element_bytes <= pitch)
    return {row + rows_down, row + rows_up + 1, byte + bytes_down, byte + bytes_up + element_bytes};
  return {(first + down) / pitch, ceil_div(first + up + element_bytes, pitch), 0, pitch};
}

}  // namespace mrvlc::accel
