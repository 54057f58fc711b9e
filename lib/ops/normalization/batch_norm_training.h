// The training mode of BatchNormalization (batch_norm.cpp).
#pragma once
#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

Status eval_batch_norm_training(const EvalContext& context);
Status emit_batch_norm_training(EmitContext& context);

}  // namespace mrvlc::ops
