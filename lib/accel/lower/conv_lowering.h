// What convolutions and matrix products share: per-channel constants of the epilogue folded into weights and
// bias, then residual and activation as far as the matrix unit's epilogue goes.
#pragma once
#include "lower/lowering.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::accel {

struct FoldedEpilogue {
  std::vector<float> scale, shift;  // per output channel; empty: 1 and 0
  std::vector<float> of_weights;    // scale, with the power of two that the operand is kept without
  int32_t after = 0;     // or the vector unit multiplies the sums by 2^after, where weights do not fit
  ir::ValueId residual;  // invalid: none
  EpilogueSpec activation;
  size_t taken = 0;   // nodes of the layer folded, the anchor included
  ir::ValueId value;  // the result of the last of them
};
// Of the layer that is being lowered. Its operands are kept as x * 2^-power.
FoldedEpilogue fold_epilogue(Lowering& lowering, bool allow_residual, int32_t power);
// Only of_weights and after: for a product that nothing is folded into.
void take_power(Lowering& lowering, int32_t power, FoldedEpilogue& f);

// Where the operation writes: the value's place if its channels are contiguous there, else scratch that
// `settle` copies.
View writable(Lowering& lowering, ir::ValueId value, size_t channel);
void settle(Lowering& lowering, ir::ValueId value, const View& written, ir::NodeId expr);
// The same where the vector unit has to multiply: the operation writes sums, and `settle_sums` makes the
// value of them, with one bias for each index of `channel`.
View sums_of(Lowering& lowering, ir::ValueId value, size_t channel);
Status settle_sums(Lowering& lowering, const FoldedEpilogue& f, const View& sums,
                   const std::vector<float>& bias, size_t channel, ir::NodeId expr);

// A product of numbers of which either may be a pair of halves is a sum of products of halves: which half of
// the left one meets which of the right one, in the order of summing. What is left out is below the precision
// of either.
struct ProductTerm {
  bool x_low = false, w_low = false;
};
std::vector<ProductTerm> product_terms(const partition::Precision& x, const partition::Precision& w);
// The operands of a product, x * 2^-shift for each term once (Lowering::halves); where they are plain
// themselves.
View left_operand(Lowering& lowering, const View& x, size_t dim, int64_t groups,
                  const std::vector<ProductTerm>& terms, int32_t shift, ir::NodeId expr);

// Strides of an image inside a view: batch dimensions enumerated, then (h, w), channels contiguous.
WindowOp::Image image_of(const View& view, const std::vector<size_t>& batch_dims, int h_dim, int w_dim);
WindowOp::Image image_of(const View& view);  // [N, C, W] or [N, C, H, W]
// Sizes, strides and the one window of all outputs, of one or two spatial dimensions.
void set_window(WindowOp& op, const ops::WindowParams& params);
// Pixels of a 1x1 operation in one column, images joined, where strides allow.
void flatten_pixels(WindowOp& op);

int64_t pack_bias(Lowering& lowering, const std::vector<float>& bias);

}  // namespace mrvlc::accel
