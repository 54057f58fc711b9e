// Windows over sizes known at run time only: what convolutions and pools of dynamic shapes share. The C side
// is the piece dynamic_window of lib/chost/kernels/dynamic_nn.c.
#pragma once
#include "common/dynamic_util.h"

namespace mrvlc::ops {

// Declares `w`, the window over the dimensions of input 0 from the third on. Sizes of a transposed
// convolution's operand are the window's outputs.
void declare_window(EmitContext& context, const Texts& kernel, bool transposed = false);
// Sets the window's outputs; an error from the function when it does not fit.
void size_window(EmitContext& context, bool ceil_mode);
void size_transposed_window(EmitContext& context);
// batch, channels, and the members `sizes` of the window: "w.out[0]"...
Texts window_dims(const EmitContext& context, const std::string& channels, std::string_view sizes);
// Loops over the taps of row `r`; leaves open a block with from, low and high.
void open_taps(EmitContext& context);
// Declares `rows`, `width`, `plane` (of the input) and `taps`.
void declare_window_sizes(EmitContext& context);

}  // namespace mrvlc::ops
