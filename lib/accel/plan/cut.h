// How a primitive is cut over tiles, and which rectangles of which buffers each tile then reads and writes.
#pragma once
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
  int64_t parts() const { return rows * channels; }
  bool operator==(const Cut&) const = default;
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

// Of the batch's output rows one after the other, and of the units.
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
