// Shared by the pools' reference (pool.cpp) and C emission (pool_emit.cpp).
#pragma once
#include "infer_util.h"

namespace mrvlc::ops {

// Divisor of the average along each dimension, [dimension][output]: elements of the window that count, at
// least 1 (a window of padding only averages to 0). The divisor of an output is the product over the
// dimensions.
std::vector<std::vector<int64_t>> pool_counts(const PoolParams& params);

Status emit_pool(EmitContext& context);
Status emit_global_pool(EmitContext& context);

}  // namespace mrvlc::ops
