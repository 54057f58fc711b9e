// How a primitive is cut over tiles, and which rectangles of which buffers each tile then reads and writes.
#pragma once
#include <compare>
#include <vector>

#include "primitive/program.h"
#include "primitive/rect.h"
#include "primitive/span.h"

namespace mrvlc::accel {

// Tile t works on part t / channels of the rows and part t % channels of the channels; tiles beyond rows *
// channels have nothing to do.
struct Cut {
  int64_t rows = 1, channels = 1;
  bool aligned = true;  // parts of the rows are whole multiples of the primitive's grain
  // Of windows with a dilation: rows that read the same input rows follow each other (`sparse_rows`), so that
  // a part reads little more than its share of the input, however far apart the taps are.
  bool sparse = false;
  // What is streamed may be worked on in parts of rows, and blocks of the input may all be kept: better for a
  // layer by itself, not always beside its neighbours.
  bool parted = false;
  int64_t parts() const { return rows * channels; }
  auto operator<=>(const Cut&) const = default;
};
std::string describe(const Cut& cut);

// Geometry of a window operation that cut, plan and code share.
struct WindowGeometry {
  explicit WindowGeometry(const WindowOp& op);
  int64_t units = 1;          // of output channels in the whole operation
  int64_t unit_out = 16;      // output channels a unit
  int64_t unit_in = 16;       // input channels a unit reads, when it does not read all
  bool shared_input = false;  // every unit reads all input channels (an ungrouped convolution)
  int64_t unit_blocks = 1;    // 16-channel weight blocks a unit
  int64_t taps = 1;           // of all phases together
  int64_t all_channels = 1;   // that one output reduces over
};

// Rows whose windows read the same input rows are `row_step` apart: the residues of the output row modulo it.
// 1 where there is no dilation.
int64_t row_step(const WindowOp& op);
// The windows of one residue alone, without dilation between rows: every row_step-th row of the output, and
// of the input the rows that these read. Sums and their order are the same.
WindowOp sparse_rows(const WindowOp& op, int64_t residue);
// Rows of one image, or of one residue of an image where the cut is sparse; they count in the operation that
// `sparse_rows` makes then.
struct RowRun {
  int64_t image = 0, residue = 0;
  Span rows;
};
// The part `rows` of the batch's rows, one image and one residue after the other.
std::vector<RowRun> row_runs(const WindowOp& op, const Cut& cut, Span rows);

// Of the batch's output rows one after the other (in the order of row_runs), and of the units.
Span tile_rows(const WindowOp& op, const Cut& cut, uint32_t tile);
Span tile_units(const WindowGeometry& g, const Cut& cut, uint32_t tile);
Span out_channels(const WindowOp& op, const WindowGeometry& g, Span units);
Span in_channels(const WindowOp& op, const WindowGeometry& g, Span units);
// Input rows (or columns) that output rows of one image read.
Span input_range(const WindowOp& op, Span outputs, bool rows);

// The dimensions of a group that rows and channels of a cut stand for; dims.size() when there is none.
struct PeAxes {
  size_t rows = 0, channels = 0;
};
PeAxes pe_axes(const PeGroup& group);
// Begin and extent of a tile's part of the iteration space; any extent of 0: nothing.
struct Box {
  Dims begin, extent;
  bool empty() const;
};
Box tile_box(const PeGroup& group, const Cut& cut, uint32_t tile);
// In each dimension the longest of all tiles.
Dims largest_box(const PeGroup& group, const Cut& cut);

struct Touch {
  uint32_t buffer = 0;
  bool write = false;
  Rect rect;
};
// What a tile touches outside the weights; several entries for one buffer are possible.
std::vector<Touch> touches(const Primitive& primitive, const Cut& cut, uint32_t tile, const Program& program);

// Cuts that make sense for the primitive, on up to `tiles` tiles; at least one.
std::vector<Cut> possible_cuts(const Primitive& primitive, uint32_t tiles);

// Bytes of the first element of a window's rows, and rectangle of a stretch of an image of it.
Rect image_rect(const WindowOp::Image& image, int64_t batch, Span rows, Span cols, Span channels,
                int64_t pitch);
Rect view_rect(const View& view, const Box& box, int64_t pitch);

}  // namespace mrvlc::accel
