// Operands whose leading dimension alone is known at run time only, e.g. a dynamic batch: the code for one
// sample, whose shapes are static, in a loop over the samples. For operators that treat samples
// independently.
#pragma once
#include <functional>

#include "common/emit_util.h"

namespace mrvlc::ops {

// Dimension 0 of input 0 and of every result is dynamic and nothing else is.
bool has_dynamic_samples(const EmitContext& context);
// Sets the dimensions of the results and emits `emit` for samples of one.
Status emit_by_sample(EmitContext& context, const std::function<Status(EmitContext&)>& emit);
// What inference sees of one sample.
InferContext sample_view(const EmitContext& context, std::vector<TensorType>& types);

}  // namespace mrvlc::ops
