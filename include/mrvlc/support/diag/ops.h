// Diagnostics 0200-0289: operators: attributes, types and shapes. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0201, Error, Rejected, "expects {} inputs, has {}")
MRVLC_DIAG(0202, Error, Rejected, "input {} has element type {}, which {} does not take")
MRVLC_DIAG(0203, Error, Rejected, "input {} has rank {}; expected {}")
MRVLC_DIAG(0204, Error, Rejected, "attribute '{}' {}")
MRVLC_DIAG(0205, Error, Rejected, "shapes {} and {} do not agree: {}")
MRVLC_DIAG(0206, Error, Rejected, "axis {} is out of range for rank {}")
MRVLC_DIAG(0207, Error, Rejected, "input {} must be known at compile time")
MRVLC_DIAG(0208, Error, Rejected, "{}")
MRVLC_DIAG(0209, Error, Limit, "the result would take {} bytes; the limit is {}")
MRVLC_DIAG(0210, Error, Limit, "its tables of positions would have {} entries; the limit is {}")
MRVLC_DIAG(0211, Error, Limit, "the loop has not ended after {} rounds, the limit of --max-rounds")
// clang-format on

}  // namespace mrvlc::DiagCode
