// Diagnostics 0350-0399: machine descriptions. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0350, Error, Rejected, "target '{}': {}")
MRVLC_DIAG(0351, Error, Rejected, "target '{}': field '{}' {}")
MRVLC_DIAG(0352, Error, Usage, "no target named '{}'; known are {}")
MRVLC_DIAG(0353, Error, Rejected, "target '{}': its file '{}' has the name of one that {}")
MRVLC_DIAG(0354, Error, Usage, "--target: '{}' is named twice")
MRVLC_DIAG(0355, Error, Rejected, "target '{}': its plug-in '{}' {}")
MRVLC_DIAG(0356, Error, Rejected, "target '{}': the function '{}' of its plug-in {}")
MRVLC_DIAG(0357, Error, Rejected, "nothing for target '{}' runs here: its files go to the vendor's compiler, or its plug-in has no function 'run'")
MRVLC_DIAG(0358, Error, Rejected, "target '{}': it takes no operator of its example '{}'")
// clang-format on

}  // namespace mrvlc::DiagCode
