// Diagnostics 0350-0399: machine descriptions. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0350, Error, Rejected, "target '{}': {}")
MRVLC_DIAG(0351, Error, Rejected, "target '{}': field '{}' {}")
MRVLC_DIAG(0352, Error, Usage, "no target named '{}'; known are {}")
// clang-format on

}  // namespace mrvlc::DiagCode
