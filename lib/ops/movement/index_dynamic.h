// Positions held in tensors whose shapes are known at run time only: what Gather* and Scatter* share.
#pragma once
#include "common/dynamic_util.h"

namespace mrvlc::ops {

// int64_t NAME = the index, counted from the end where it is negative; fails when it is out of range.
void emit_checked_index(EmitContext& context, std::string_view name, std::string_view expression,
                        std::string_view dim);

// GatherElements and ScatterElements.
Status check_along_axis(const InferContext& context);
// A loop over the indices (input 1) that leaves int64_t n, position in them, and at, in the data.
void dynamic_along_axis(EmitContext& context);

// GatherND and ScatterND: dimensions of what the tuples select.
Result<Dims> selected_dims(const InferContext& context, int64_t batch_dims);
Texts selected_texts(const EmitContext& context, int64_t batch_dims);
// A loop over the tuples that leaves int64_t n (tuple) and at (offset); `slice` elements are selected.
void dynamic_tuples(EmitContext& context, int64_t batch_dims);

}  // namespace mrvlc::ops
