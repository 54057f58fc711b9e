// How a tile works through its part of a WindowOp: blocks and loop order, chosen by estimated cycles. Units:
// channels are counted in units of 16, or of a group when the convolution is grouped.
#pragma once
#include <optional>

#include "mrvlc/target/machine.h"
#include "plan/cut.h"

namespace mrvlc::accel {

// Operands that go through DDR block by block; the others lie on chip for the whole operation.
struct Streams {
  bool x = true, residual = true, out = true, w = true;  // w: computed weights
  bool any() const { return x || residual || out || w; }
};

struct WindowPlan {
  int64_t rows = 1, cols = 1;  // of the output, a block
  int64_t units = 1;           // of output channels, a block
  bool split = false;          // the reduction is done tap by tap, `k` input channels at a time
  int64_t k = 0;               // else all of them
  bool keep_x = false;         // each block of the input is loaded once, and stays while all weights pass
  bool weights_outer = true;   // loop order: channel blocks outside pixel blocks, or inside
  bool weights_once =
      false;  // every block of weights is loaded just once, so it can come long before it is used
  int64_t x_bytes = 0, w_bytes = 0, bias_bytes = 0, out_bytes = 0, residual_bytes = 0;  // of one buffer
  uint32_t x_depth = 1, w_depth = 1, out_depth = 1;
  double cycles = 0;  // estimate
  // What streamed operands take, without weights that come ahead.
  int64_t workspace() const {
    int64_t weights = weights_once ? 0 : (w_bytes + bias_bytes) * w_depth;
    return x_bytes * x_depth + weights + (out_bytes + residual_bytes) * out_depth;
  }
};

// `budget`: bytes of on-chip memory besides what lies there already. nullopt: even the smallest block does
// not fit.
std::optional<WindowPlan> plan_window(const WindowOp& op, const Cut& cut, const Streams& streams,
                                      int64_t budget, const target::Machine& machine);
// Whether any cut onto one tile fits, with everything streamed.
bool window_fits(const WindowOp& op, const target::Machine& machine);

// Weights come in pieces of about this size, so that memory is given back while a layer runs.
int64_t weight_chunk_bytes(const target::Machine& machine);

// Cycles of the matrix unit (or, for pools, of the vector unit) for a block of all phases, overheads
// included.
double window_cycles(const WindowOp& op, const WindowGeometry& g, int64_t rows, int64_t cols, int64_t units,
                     int64_t k, const target::Machine& machine);

}  // namespace mrvlc::accel
