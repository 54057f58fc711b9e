// infer_open and emit_open of operators whose other facets stand in files of their own.
#pragma once
#include "common/open_util.h"

namespace mrvlc::ops {

using OpenTypes = Result<std::vector<TensorType>>;

// reshape_open.cpp
OpenTypes infer_open_reshape(const InferContext& context);
Status emit_open_reshape(EmitContext& context);
OpenTypes infer_open_flatten(const InferContext& context);
Status emit_open_flatten(EmitContext& context);
OpenTypes infer_open_squeeze(const InferContext& context);
Status emit_open_squeeze(EmitContext& context);
OpenTypes infer_open_unsqueeze(const InferContext& context);
Status emit_open_unsqueeze(EmitContext& context);

// move_open.cpp
OpenTypes infer_open_slice(const InferContext& context);
Status emit_open_slice(EmitContext& context);
OpenTypes infer_open_expand(const InferContext& context);
Status emit_open_expand(EmitContext& context);
OpenTypes infer_open_tile(const InferContext& context);
Status emit_open_tile(EmitContext& context);

// pad_open.cpp
OpenTypes infer_open_pad(const InferContext& context);
Status emit_open_pad(EmitContext& context);

// join_open.cpp
OpenTypes infer_open_concat(const InferContext& context);
Status emit_open_concat(EmitContext& context);
OpenTypes infer_open_split(const InferContext& context);
Status emit_open_split(EmitContext& context);

// index_open.cpp
OpenTypes infer_open_gather(const InferContext& context);
Status emit_open_gather(EmitContext& context);
OpenTypes infer_open_gather_elements(const InferContext& context);
Status emit_open_gather_elements(EmitContext& context);
OpenTypes infer_open_gather_nd(const InferContext& context);
Status emit_open_gather_nd(EmitContext& context);
OpenTypes infer_open_one_hot(const InferContext& context);
Status emit_open_one_hot(EmitContext& context);

// fill_open.cpp
OpenTypes infer_open_shape(const InferContext& context);  // and Size
Status emit_open_shape(EmitContext& context);
OpenTypes infer_open_constant_of_shape(const InferContext& context);
Status emit_open_constant_of_shape(EmitContext& context);
OpenTypes infer_open_range(const InferContext& context);
Status emit_open_range(EmitContext& context);
OpenTypes infer_open_eye_like(const InferContext& context);
Status emit_open_eye_like(EmitContext& context);

// scan_open.cpp
OpenTypes infer_open_cum_sum(const InferContext& context);
Status emit_open_cum_sum(EmitContext& context);
OpenTypes infer_open_trilu(const InferContext& context);
Status emit_open_trilu(EmitContext& context);
OpenTypes infer_open_top_k(const InferContext& context);
Status emit_open_top_k(EmitContext& context);

// resize_open.cpp
OpenTypes infer_open_resize(const InferContext& context);  // and Upsample
Status emit_open_resize(EmitContext& context);

}  // namespace mrvlc::ops
