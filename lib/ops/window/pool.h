// Shared by the pools' reference (pool.cpp) and C emission (pool_emit.cpp, pool_rows.cpp).
#pragma once
#include "common/infer_util.h"

namespace mrvlc::ops {

// The divisor of an average is a product over the dimensions. Of one dimension: the taps at
// output * stride - pad, a dilation apart, that are in [low, high), at least 1 (a window of padding only
// averages to 0).
struct PoolSpan {
  int64_t low = 0, high = 0;
};
PoolSpan pool_span(const PoolParams& params, size_t d);
int64_t pool_count(const PoolParams& params, size_t d, int64_t output);

// The p of LpPool and GlobalLpPool, 0 for the others.
int64_t pool_norm(const InferContext& context);

// C: what an element adds to the sum of a p-norm, and the norm of a sum.
std::string pool_power(const EmitContext& context, int64_t p, const std::string& v);
std::string pool_root(const EmitContext& context, int64_t p, const std::string& v);
// The lowest value of a type, as a literal.
std::string pool_lowest(ElementType elem);

Status emit_pool(EmitContext& context);
Status emit_global_pool(EmitContext& context);
Status emit_dynamic_pool(EmitContext& context);  // pool_dynamic.cpp

}  // namespace mrvlc::ops
