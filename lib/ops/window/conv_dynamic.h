// Convolutions over sizes known at run time only, in plain loops over rows of outputs. Those of static shapes
// are other texts: float ones have packed kernels or loops of literals of lib/chost (which take a dynamic
// batch, too), integer ones go tap by tap through conditions that a compiler resolves when sizes are
// literals.
#pragma once
#include <functional>

#include "common/emit_util.h"

namespace mrvlc::ops {

Status emit_dynamic_conv(EmitContext& context);
Status emit_dynamic_conv_transpose(EmitContext& context);
// Operands of ConvInteger and QLinearConv, by input position, and their zero points as C.
struct IntegerConvText {
  size_t data, weights;
  std::string data_zero, weights_zero;
};
// Writes the line that makes an output element, at `index`, of the uint32_t `sum`.
using StoreConvSum = std::function<void(const std::string& index)>;
// `prepare` may check operands; the channel m and the sizes of the result are declared.
Status emit_dynamic_integer_conv(EmitContext& context, const IntegerConvText& text,
                                 const std::function<StoreConvSum()>& prepare);

}  // namespace mrvlc::ops
