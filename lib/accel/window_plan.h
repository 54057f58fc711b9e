// How a WindowOp is cut over tiles (rows of the output, output channels, or both) and into blocks; chosen by
// estimated cycles. Units: channels are counted in units of 16, or of a group when the convolution is
// grouped.
#pragma once
#include <optional>

#include "mrvlc/target/machine.h"
#include "program.h"

namespace mrvlc::accel {

struct WindowPlan {
  int64_t row_parts = 1, channel_parts = 1;  // over tiles; their product is the number of tiles used
  int64_t rows = 1, cols = 1;                // of the output, a block
  int64_t units = 1;                         // of output channels, a block
  int64_t k = 0;              // input channels at a time; all of them unless the reduction is split
  bool weights_outer = true;  // loop order: channel blocks outside pixel blocks, or inside
  int64_t x_bytes = 0, w_bytes = 0, bias_bytes = 0, out_bytes = 0, residual_bytes = 0;  // of one buffer
  uint32_t x_depth = 1, w_depth = 1, out_depth = 1;
  double cycles = 0;  // estimate
};

// Geometry that plan and code generation share.
struct WindowGeometry {
  explicit WindowGeometry(const WindowOp& op);
  int64_t units = 1;          // of the whole operation
  int64_t unit_out = 16;      // output channels a unit
  int64_t unit_in = 16;       // input channels a unit reads, when it does not read all
  bool shared_input = false;  // every unit reads all input channels (an ungrouped convolution)
  int64_t unit_blocks = 1;    // 16-channel weight blocks a unit
  int64_t taps = 1;           // of all phases together
  int64_t all_channels = 1;   // that one output reduces over
};

std::optional<WindowPlan> plan_window(const WindowOp& op, const target::Machine& machine, uint32_t tiles);

// Largest range of input rows (or columns) that `outputs` adjacent outputs can touch.
int64_t input_extent(int64_t outputs, int64_t lattice, int64_t stride, int64_t lowest, int64_t highest,
                     int64_t size);

}  // namespace mrvlc::accel
