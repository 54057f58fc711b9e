// Rectangles of stored tensors: rows of `pitch` bytes of a buffer, and a range of bytes within each row. For
// an image stored channels last a row is a pixel and the range is some of its channels.
#pragma once
#include <cstdint>
#include <span>

namespace mrvlc::accel {

struct Rect {
  int64_t row0 = 0, row1 = 0;    // rows [row0, row1)
  int64_t byte0 = 0, byte1 = 0;  // bytes [byte0, byte1) of each
  bool empty() const { return row0 >= row1 || byte0 >= byte1; }
  int64_t rows() const { return row1 - row0; }
  int64_t width() const { return byte1 - byte0; }
  int64_t bytes() const { return empty() ? 0 : rows() * width(); }
  bool operator==(const Rect&) const = default;
};

Rect meet(const Rect& a, const Rect& b);
Rect hull(const Rect& a, const Rect& b);  // an empty one adds nothing
bool contains(const Rect& outer, const Rect& inner);

struct Walk {
  int64_t count = 1, stride = 0;  // bytes
};
// Everything an access touches that starts at byte `first` of the buffer and moves along `walks`. Whole rows
// when the access is no rectangle.
Rect rect_of(int64_t first, std::span<const Walk> walks, int64_t element_bytes, int64_t pitch);

}  // namespace mrvlc::accel
