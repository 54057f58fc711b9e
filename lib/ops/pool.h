// Shared by the pools' reference (pool.cpp) and C emission (pool_emit.cpp).
#pragma once
#include "infer_util.h"

namespace mrvlc::ops {

// Divisor of the average along each dimension, [dimension][output]: elements of the window that count, at
// least 1 (a window of padding only averages to 0). The divisor of an output is the product over the
// dimensions.
std::vector<std::vector<int64_t>> pool_counts(const PoolParams& params);

// The p of LpPool and GlobalLpPool, 0 for the others.
int64_t pool_norm(const InferContext& context);

// C: what an element adds to the sum of a p-norm, and the norm of a sum.
std::string pool_power(const EmitContext& context, int64_t p, const std::string& v);
std::string pool_root(const EmitContext& context, int64_t p, const std::string& v);
// The lowest value of a type, as a literal.
std::string pool_lowest(ElementType elem);

Status emit_pool(EmitContext& context);
Status emit_global_pool(EmitContext& context);
// Shapes known at run time only (pool_open.cpp).
Status emit_open_pool(EmitContext& context);
Status emit_open_global_pool(EmitContext& context);

}  // namespace mrvlc::ops
