// What convolutions and matrix products share: per-channel constants of the epilogue folded into weights and
// bias, then residual and activation as far as the matrix unit's epilogue goes.
#pragma once
#include "lower/lowering.h"

namespace mrvlc::accel {

struct FoldedEpilogue {
  std::vector<float> scale, shift;  // per output channel; empty: 1 and 0
  ir::ValueId residual;             // invalid: none
  EpilogueSpec activation;
  size_t taken = 0;   // nodes of the layer folded, the anchor included
  ir::ValueId value;  // the result of the last of them
};
// Of the layer that is being lowered.
FoldedEpilogue fold_epilogue(Lowering& lowering, bool allow_residual);

// Where the operation writes: the value's place if its channels are contiguous there, else scratch that
// `settle` copies.
View writable(Lowering& lowering, ir::ValueId value, size_t channel);
void settle(Lowering& lowering, ir::ValueId value, const View& written, ir::NodeId expr);

// Strides of an image inside a view: batch dimensions enumerated, then (h, w), channels contiguous.
WindowOp::Image image_of(const View& view, const std::vector<size_t>& batch_dims, int h_dim, int w_dim);
// Pixels of a 1x1 operation in one column, images joined, where strides allow.
void flatten_pixels(WindowOp& op);

int64_t pack_bias(Lowering& lowering, const std::vector<float>& bias);

}  // namespace mrvlc::accel
