// Scan of opset 8 in today's form.
#pragma once
#include "opsets.h"

namespace mrvlc::onnx {

// Rewrites the Scan nodes of opset 8 of the model and its functions, in place. MRV0208: one has lengths of
// its sequences.
void rewrite_batched_scans(pb::ModelProto& model, const Opsets& opsets, Sink& sink);

}  // namespace mrvlc::onnx
