// Shared by DeformConv's reference (deform_conv.cpp) and C emission (deform_conv_emit.cpp).
#pragma once
#include "common/infer_util.h"

namespace mrvlc::ops {

struct DeformParams {
  int64_t batch = 0, channels = 0, filters = 0, group = 1, offset_group = 1, taps = 1;
  int64_t input[2] = {}, kernel[2] = {}, stride[2] = {}, dilation[2] = {}, pad[2] = {}, output[2] = {};
  int64_t extra[2] = {};  // padding less the window's extent
};

// All but the sizes of images.
Result<DeformParams> deform_form(const InferContext& context);
Result<DeformParams> deform_params(const InferContext& context);

Status emit_deform_conv(EmitContext& context);

}  // namespace mrvlc::ops
