// Convolutions and matrix products of 8-bit operands less their zero points, sums in 32 bits that wrap: what
// ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul share. What lies in the padding of a convolution
// is the zero point, so it adds nothing. Products of float8 (QLinearMatMul-21) are exact in double, and are
// summed there.
#pragma once
#include <functional>

#include "common/infer_util.h"
#include "product/matmul_shape.h"

namespace mrvlc::ops {

inline constexpr TypeSet kBytes = types_of({spec::E::U8, spec::E::I8});
inline constexpr TypeSet kFloatCodes =
    types_of({spec::E::F8E4M3FN, spec::E::F8E4M3FNUZ, spec::E::F8E5M2, spec::E::F8E5M2FNUZ});

// An operand and its zero point (which may be absent), by input position. The zero point is one element, or
// one for each row, column or channel.
struct Centred {
  size_t data, zero;
};

struct IntegerProduct {
  Centred a, b;  // data and weights, or the matrices
  TypeSet types = kBytes;

  // I32, or F64 where an operand is a float.
  ElementType sum_type(ElementType of_a, ElementType of_b) const {
    return kFloatCodes.has(of_a) || kFloatCodes.has(of_b) ? ElementType::F64 : ElementType::I32;
  }
  // The operands alone, as the shape rules of the plain operator want them.
  InferContext operands(InferContext context) const;
};
inline constexpr IntegerProduct kConvInteger{{0, 2}, {1, 3}};  // MatMulInteger's, too

// MRV0205 unless input i, if given, has one element or `count` of them as a vector.
Status check_one_or_each(const InferContext& context, size_t i, size_t of, int64_t count);
Result<ConvParams> integer_conv_params(const InferContext& context, const IntegerProduct& product);
Result<MatMulShape> integer_matmul_shape(const InferContext& context, const IntegerProduct& product);

// The sums, in order, as the sum_type.
Tensor eval_integer_conv(const EvalContext& context, const ConvParams& p, const IntegerProduct& product);
Tensor eval_integer_matmul(const EvalContext& context, const MatMulShape& s, const IntegerProduct& product);

// C: `store` writes the line that makes an output element, at `index`, of the uint32_t or double `sum`.
// Variables in scope: m the channel; i and j row and column.
using StoreSum = std::function<void(const std::string& index)>;
void emit_integer_conv(EmitContext& context, const ConvParams& p, const IntegerProduct& product,
                       const StoreSum& store);
// The same for sizes known at run time only; `prepare` as emit_dynamic_integer_conv() has it.
Status emit_dynamic_integer_product(EmitContext& context, const IntegerProduct& product,
                                    const std::function<StoreSum()>& prepare);
Status emit_integer_matmul(EmitContext& context, const MatMulText& s, const IntegerProduct& product,
                           const StoreSum& store);
// The C type in which zero points are taken away.
std::string_view zero_type(const EmitContext& context, const IntegerProduct& product);
// The element of operand `i` for `index`: none (0), one, or as many as `count` says, which is checked at run
// time where it is not known before.
std::string one_or_each(EmitContext& context, size_t i, std::string_view index, const std::string& count);

}  // namespace mrvlc::ops
