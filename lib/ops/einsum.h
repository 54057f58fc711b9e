// What an Einsum costs, for macs().
#pragma once
#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

// A multiplication for each combination of labels and each operand after the first; 0 where nothing is summed
// (products of elements are no multiply-accumulates) or the equation does not fit.
int64_t einsum_macs(const InferContext& context);

}  // namespace mrvlc::ops
