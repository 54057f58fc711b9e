// Diagnostics 06xx: host code. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0601, Error, Rejected, "operator {} has no C implementation")
MRVLC_DIAG(0602, Error, Rejected, "element type {} cannot be used on the host")
MRVLC_DIAG(0603, Error, Usage, "'{}' is not a C identifier")
MRVLC_DIAG(0604, Error, Limit, "the arena needs {} bytes, {} more than its limit of {}; no plan needs less than {}; alive at the peak: {}")
MRVLC_DIAG(0605, Error, Rejected, "operator {} cannot run where a shape is known at run time only")
// clang-format on

}  // namespace mrvlc::DiagCode
