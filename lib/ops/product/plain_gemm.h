// Gemm and MatMul in plain loops, for the element types the packed kernels do not take.
#pragma once
#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

Status emit_plain_gemm(EmitContext& context);
Status emit_plain_matmul(EmitContext& context);

}  // namespace mrvlc::ops
