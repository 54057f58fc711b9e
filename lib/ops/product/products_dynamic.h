// Convolutions and matrix products over sizes known at run time only, in plain loops. Float products, and
// float convolutions whose batch alone is dynamic, have packed kernels: lib/chost/matmul.cpp and conv.cpp.
#pragma once
#include "quantization/integer_products.h"

namespace mrvlc::ops {

Status emit_dynamic_conv(EmitContext& context);
Status emit_dynamic_conv_transpose(EmitContext& context);
// ConvInteger and MatMulInteger: 8-bit operands less their zero points, inputs 2 and 3; sums wrap.
Status emit_dynamic_conv_integer(EmitContext& context);
Status emit_dynamic_matmul_integer(EmitContext& context);
// Of any numbers.
Status emit_dynamic_matmul(EmitContext& context);
Status emit_dynamic_gemm(EmitContext& context);

// QLinearConv and QLinearMatMul: `prepare` may check operands, sizes m and n (or c) of a result are declared.
Status emit_dynamic_products(EmitContext& context, const IntegerProduct& product,
                             const std::function<StoreSum()>& prepare);
Status emit_dynamic_conv_sums(EmitContext& context, const IntegerProduct& product,
                              const std::function<StoreSum()>& prepare);

// The element of operand `i` for `index`: none (0), one, or as many as `count` says (checked at run time).
std::string dynamic_one_or_each(EmitContext& context, size_t i, std::string_view index,
                                const std::string& count);

}  // namespace mrvlc::ops
