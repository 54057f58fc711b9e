// The C of Cast between strings and numbers.
#pragma once
#include "common/convert.h"
#include "mrvlc/ops/emit.h"

namespace mrvlc::ops {

// Input 0 to output 0, whose dimensions are set; the function must be able to fail.
Status emit_text_cast(EmitContext& context, const CastMode& mode);

}  // namespace mrvlc::ops
