// What one tile does of a WindowOp in one step, and the operation with all that was decided about it.
#pragma once
#include "code/codegen.h"
#include "plan/window_plan.h"

namespace mrvlc::accel {

struct WindowBlock {
  int64_t image = 0;          // of the batch
  int64_t residue = 0;        // of its rows, where the cut is sparse: rows count in WindowTask::at(block)
  Span rows, cols, units, k;  // of the output; of the channels that the sum runs over
  Span x_rows, x_cols;        // of the input, that rows and cols read
  int64_t tap = -1;           // of a split reduction; else all
  bool first = true, last = true;  // part of the reduction
  bool empty() const { return rows.empty() || cols.empty() || units.empty(); }
};

struct WindowTask {
  const WindowOp& op;
  const WindowPlan& plan;
  const Streams& streams;
  CodegenContext& context;

  const Cut& cut = context.cuts[context.primitive];
  WindowGeometry geometry = WindowGeometry(op);

  // The operation that the block's rows and columns count in.
  const WindowOp& at(const WindowBlock& b) const {
    return cut.sparse ? by_residue[static_cast<size_t>(b.residue)] : op;
  }
  std::vector<WindowOp> by_residue = operations_by_residue();  // of a sparse cut

  Span rows(uint32_t tile) const { return tile_rows(op, cut, tile); }
  Span units(uint32_t tile) const { return tile_units(geometry, cut, tile); }
  Span channels_out(const WindowBlock& b) const { return out_channels(op, geometry, b.units); }
  Span channels_in(const WindowBlock& b) const;
  int64_t taps_apart() const { return plan.split ? geometry.taps : 1; }  // steps the taps of a sum take
  bool has_weights() const {
    return op.kind != WindowOp::Kind::Pool && (!op.dynamic_weights || op.bias >= 0);
  }
  // Of one 16-channel weight block of a phase, for `k` channels.
  int64_t weight_block_bytes(const WindowPhase& phase, int64_t k) const {
    return (plan.split ? k : phase.kernel_h * phase.kernel_w * k) * op.lane_bytes();
  }

 private:
  std::vector<WindowOp> operations_by_residue() const {
    std::vector<WindowOp> out;
    for (int64_t r = 0; cut.sparse && r < std::min(row_step(op), op.out_h); ++r)
      out.push_back(sparse_rows(op, r));
    return out;
  }
};

// The blocks of each tile, in the order of its steps. Tiles with less to do stand still now and then (an
// empty block), so that all take the same steps. An error where they are too many for a program.
Result<std::vector<std::vector<WindowBlock>>> window_blocks(const WindowTask& task);

}  // namespace mrvlc::accel
