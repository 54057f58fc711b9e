// Diagnostics 08xx: textual IR. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0801, Error, Internal, "the IR is inconsistent: {}")
MRVLC_DIAG(0802, Error, Rejected, "line {}, column {}: {}")
// clang-format on

}  // namespace mrvlc::DiagCode
