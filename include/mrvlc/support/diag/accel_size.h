// Diagnostics 05xx: accelerator, what is too large. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0509, Error, Limit, "the region needs {} {}; at most {} are possible: --cpu keeps a node on the CPU, --border begins another region")
MRVLC_DIAG(0510, Error, Limit, "the model binary cannot be written: {} is {}, at most {} is possible")
// clang-format on

}  // namespace mrvlc::DiagCode
