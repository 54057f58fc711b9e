// Diagnostics 0290-0299: passes. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0290, Error, Usage, "no pass named '{}'; mrvlc-opt --list shows them")
MRVLC_DIAG(0291, Error, Internal, "after pass '{}': {}")
MRVLC_DIAG(0292, Error, Internal, "pass '{}' claims {}")
// clang-format on

}  // namespace mrvlc::DiagCode
