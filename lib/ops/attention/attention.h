// The C of Attention.
#pragma once
#include "common/infer_util.h"
#include "mrvlc/ops/attention.h"

namespace mrvlc::ops {

Status emit_attention(EmitContext& context);

}  // namespace mrvlc::ops
