// Sizes of the blocks of K_conv and K_conv_rows.
#pragma once
#include "conv/plan.h"
#include "mrvlc/chost/choice.h"

namespace mrvlc::chost {

// Of K_conv: depth and columns (pixels) of a block.
struct Blocking {
  int64_t block_k = 1, columns = 16;
  int64_t bytes() const { return block_k * columns * 4; }
  friend bool operator==(const Blocking&, const Blocking&) = default;
};
Blocking choose_blocking(const ConvPlan& plan, Blocks blocks);

// What is gathered from, see K_conv_shape: all rows of a channel at once, or, where those of one row of taps
// at a time are fewer or would not stay in the first-level cache, these.
struct Strip {
  int64_t left = 0, top = 0, pitch = 0, floats = 0;
  bool shared = true;
};
Strip choose_strip(const ConvPlan& plan, Blocks blocks);

// Scratch memory of K_conv.
int64_t gather_bytes(const ConvPlan& plan, Blocks blocks);

// Of K_conv_rows.
partition::RowsPlan rows_plan(const ConvSizes& sizes, Blocks blocks);

}  // namespace mrvlc::chost
