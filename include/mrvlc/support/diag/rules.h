// Diagnostics 0300-0349: rules; the first argument is FILE:LINE:COLUMN. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0301, Error, Rejected, "{}: {}")
MRVLC_DIAG(0302, Error, Rejected, "{}: unknown operator '{}'")
MRVLC_DIAG(0303, Error, Rejected, "{}: unknown predicate '{}'")
MRVLC_DIAG(0304, Error, Rejected, "{}: '{}' {}")
MRVLC_DIAG(0305, Error, Rejected, "{}: capture '%{}' is not bound by the pattern")
MRVLC_DIAG(0306, Error, Rejected, "{}: {} '{}' is already defined at {}")
MRVLC_DIAG(0307, Error, Rejected, "{}: rule '{}' overlaps with rule '{}' ({}) at the same priority {}: give one of them another priority or a condition that keeps them apart")
MRVLC_DIAG(0308, Error, Rejected, "{}: rule '{}' can never win: rule '{}' ({}) matches everything it matches at a higher priority")
MRVLC_DIAG(0309, Error, Rejected, "{}: unknown layer kind '{}'; known are {}")
MRVLC_DIAG(0310, Error, Rejected, "{}: rule '{}' has no '{}'")
MRVLC_DIAG(0311, Error, Rejected, "{}: {}")
MRVLC_DIAG(0313, Error, Limit, "{}: {}")
MRVLC_DIAG(0314, Error, Rejected, "{}: operator '{}' has no attribute '{}'")
MRVLC_DIAG(0315, Error, Usage, "no rule named '{}'")
MRVLC_DIAG(0316, Error, Rejected, "{}: a layer of kind '{}' cannot begin with {}, it begins with {}; {}")
MRVLC_DIAG(0317, Warning, Rejected, "{}: '{}' says nothing: what the accelerator can do is asked of every match; take it out")
// clang-format on

}  // namespace mrvlc::DiagCode
