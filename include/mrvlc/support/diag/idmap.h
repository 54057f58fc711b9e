// Diagnostics 106x: the ID map. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(1060, Error, Limit, "idmap.json would take at least {} bytes, at most {} are written: its {} expressions name ONNX nodes {} times, of {} nodes of the model")
// clang-format on

}  // namespace mrvlc::DiagCode
