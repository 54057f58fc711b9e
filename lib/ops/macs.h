// Multiply-accumulates by the forms that operators share, for OpDef::macs: the types of the operands, and the
// elements of the first result. 0 where the types do not fit; at most INT64_MAX.
#pragma once
#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

int64_t conv_macs(const InferContext& operands, int64_t results);          // filters: operand 1
int64_t qlinear_conv_macs(const InferContext& operands, int64_t results);  // filters: operand 3
int64_t conv_transpose_macs(const InferContext& operands, int64_t results);
int64_t gemm_macs(const InferContext& operands, int64_t results);
int64_t matmul_macs(const InferContext& operands, int64_t results);
int64_t recurrent_macs(const InferContext& operands, int64_t results);

}  // namespace mrvlc::ops
