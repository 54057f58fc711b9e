// Primitives that work on images row by row: which buffers they read and write as rows of an image, and the
// same primitive on some of its rows alone. Groups may read other rows than they write, in steps: what pads,
// resizes and crops.
#pragma once
#include <optional>
#include <vector>

#include "primitive/program.h"
#include "primitive/span.h"

namespace mrvlc::accel {

// A buffer as the rows of an image, offset and row counted in elements of the access: row r begins at r *
// row, and what is touched of it lies in [r * row, (r + 1) * row).
// Index i of a group's dimension of rows touches [first + i * step, first + i * step + height).
struct RowMap {
  int64_t first = 0, step = 1, height = 1;
  bool operator==(const RowMap&) const = default;
};

struct RowAccess {
  uint32_t buffer = kWeights;
  int64_t row = 0, rows = 0, element_bytes = 2;
  bool writes = false;
  int64_t col = 0, cols = 0;  // the same for columns of a row, where the use is by columns too
  RowMap map;                 // of a group
  bool same_image(const RowAccess& o) const {
    return buffer == o.buffer && row * element_bytes == o.row * o.element_bytes && rows == o.rows;
  }
};

struct RowUse {
  std::vector<RowAccess> accesses;  // buffers once for reading and once for writing
  std::vector<uint32_t> whole;      // further buffers that every row reads, weights apart
  int64_t rows = 0;                 // of its results
  size_t axis = 0;          // of a PeGroup: the dimension along which rows lie; its rank: it has one row
  int64_t per = 1;          // and how many of its indices are a row
  bool by_columns = false;  // each column of a row for itself
  size_t col_axis = 0;      // of a PeGroup: that of columns; `axis` where they are the indices of a row
  bool mapped = false;      // of a PeGroup: rows of operands and results differ, or are not all
};

// A part of an image.
struct Tile {
  Span rows, cols;
  bool empty() const { return rows.empty() || cols.empty(); }
};
inline Tile hull(const Tile& a, const Tile& b) {
  return {hull(a.rows, b.rows), hull(a.cols, b.cols)};
}

// nullopt: it has several images, or does not go by rows.
std::optional<RowUse> row_use(const Primitive& primitive, const std::vector<Buffer>& buffers);

// Of its results all that it makes with `rows`; empty: none of these.
Span rows_made(const Primitive& primitive, const RowUse& use, Span rows);

// Columns of its results.
int64_t columns_of(const RowUse& use);

// The part of the buffer that it reads for this part of its results; empty: it does not read it as an image.
Tile part_read(const Primitive& primitive, const RowUse& use, uint32_t buffer, const Tile& part);
// Height and width become dimensions of their own: what follows needs that where columns are parted.
void split_columns(Primitive& primitive, RowUse& use);
// The buffer is another one, which holds `part` of the image alone.
void move_image(Primitive& primitive, const RowAccess& access, uint32_t to, const Tile& part);
// Computes this part of its results alone. After move_image: offsets are those of the buffers as they are
// then.
void keep_part(Primitive& primitive, const RowUse& use, const Tile& part);

}  // namespace mrvlc::accel
