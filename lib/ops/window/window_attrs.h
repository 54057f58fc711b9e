// Attributes of window operators.
#pragma once
#include "common/infer_util.h"

namespace mrvlc::ops {

// Those of a convolution: Conv, ConvInteger and QLinearConv.
std::vector<ir::AttrSpec> conv_attrs();

// One entry a spatial dimension (or `count`), each in [low, kMaxExtent]; `fallback` repeated when the
// attribute is absent.
Result<std::vector<int64_t>> extents(const InferContext& context, std::string_view attr, size_t count,
                                     int64_t low, int64_t fallback);

}  // namespace mrvlc::ops
