// Primitives that work on images row by row: which buffers they read and write as rows of an image, and the
// same primitive on some of its rows alone.
#pragma once
#include <optional>
#include <vector>

#include "primitive/program.h"
#include "primitive/span.h"

namespace mrvlc::accel {

// A buffer as the rows of an image, offset and row counted in elements of the access: row r begins at r *
// row, and what is touched of it lies in [r * row, (r + 1) * row).
struct RowAccess {
  uint32_t buffer = kWeights;
  int64_t row = 0, rows = 0, element_bytes = 2;
  bool writes = false;
  bool same_image(const RowAccess& o) const {
    return buffer == o.buffer && row * element_bytes == o.row * o.element_bytes && rows == o.rows;
  }
};

struct RowUse {
  std::vector<RowAccess> accesses;  // buffers once for reading and once for writing
  std::vector<uint32_t> whole;      // further buffers that every row reads, weights apart
  int64_t rows = 0;                 // of its results
  size_t axis = 0;                  // of a PeGroup: the dimension along which rows lie,
  int64_t per = 1;                  // and how many of its indices are a row
};
// nullopt: it has several images, or does not go by rows.
std::optional<RowUse> row_use(const Primitive& primitive, const std::vector<Buffer>& buffers);

// Rows of the buffer that it reads for these rows of its results; empty: it does not read it as rows.
Span rows_read(const Primitive& primitive, const RowUse& use, uint32_t buffer, Span rows);
// Computes these rows of its results alone.
void keep_rows(Primitive& primitive, const RowUse& use, Span rows);
// The buffer is another one, which begins so many rows later.
void move_rows(Primitive& primitive, const RowAccess& access, uint32_t to, int64_t rows);

}  // namespace mrvlc::accel
