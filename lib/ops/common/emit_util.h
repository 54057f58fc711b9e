// Pieces the C emissions of window and movement operators share.
#pragma once
#include "common/infer_util.h"

namespace mrvlc::ops {

// The view inference has, from an emission; for the functions of params.h.
InferContext emit_view(const EmitContext& context);
// Arithmetic on half types is not generated: the pass widen-f16 has run before.
Status require_widened(const EmitContext& context, size_t input = 0);
// The C name of a function of `elem`: of lib/chost/kernels/math.c for float (within 4 units of the last
// place), else of <math.h>. `name`: exp, expm1, log, log1p, tanh, erf, sin, cos, tan; of any other nothing.
std::string math_function(EmitContext& context, std::string_view name, ElementType elem);
// C statement: the larger of both into the first, or NaN where either is.
std::string larger_text(ElementType elem, std::string_view into, std::string_view value);
// One element as a C literal, exactly.
std::string element_literal(const Tensor& tensor, int64_t i);
// y[0..n) = the tensor's elements.
void emit_constant_output(EmitContext& context, const Tensor& tensor, size_t output = 0);
// Brackets `- 3` so that it can follow a sign.
inline std::string signed_text(int64_t v) {
  return v < 0 ? fmt::format("({})", v) : fmt::format("{}", v);
}

}  // namespace mrvlc::ops
