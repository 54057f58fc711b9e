// infer_dynamic and C of operators whose other facets stand in files of their own.
#pragma once
#include "common/dynamic_util.h"

namespace mrvlc::ops {

using DynamicTypes = Result<std::vector<TensorType>>;

// reshape_dynamic.cpp
DynamicTypes infer_dynamic_reshape(const InferContext& context);
Status emit_reshape(EmitContext& context);
DynamicTypes infer_dynamic_flatten(const InferContext& context);
Status emit_flatten(EmitContext& context);
DynamicTypes infer_dynamic_squeeze(const InferContext& context);
Status emit_squeeze(EmitContext& context);
DynamicTypes infer_dynamic_unsqueeze(const InferContext& context);
Status emit_unsqueeze(EmitContext& context);

// move_dynamic.cpp
DynamicTypes infer_dynamic_slice(const InferContext& context);
Status emit_slice(EmitContext& context);
DynamicTypes infer_dynamic_expand(const InferContext& context);
Status emit_expand(EmitContext& context);
DynamicTypes infer_dynamic_tile(const InferContext& context);
Status emit_tile(EmitContext& context);

// pad_dynamic.cpp
DynamicTypes infer_dynamic_pad(const InferContext& context);

// resize_dynamic.cpp
DynamicTypes infer_dynamic_resize(const InferContext& context);  // and Upsample
Status emit_dynamic_resize(EmitContext& context);

}  // namespace mrvlc::ops
