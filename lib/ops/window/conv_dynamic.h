// Convolutions over sizes known at run time only, in plain loops over rows of outputs. Those of static shapes
// are other texts: float ones have packed kernels or loops of literals of lib/chost (which take a dynamic
// batch, too), integer ones go tap by tap through conditions that a compiler resolves when sizes are
// literals.
#pragma once
#include "quantization/integer_products.h"

namespace mrvlc::ops {

Status emit_dynamic_conv(EmitContext& context);
Status emit_dynamic_conv_transpose(EmitContext& context);
// ConvInteger and QLinearConv: `prepare` may check operands; the channel m and the sizes of the result are
// declared.
Status emit_dynamic_integer_conv(EmitContext& context, const IntegerProduct& product,
                                 const std::function<StoreSum()>& prepare);

}  // namespace mrvlc::ops
