// Diagnostics 10xx: pictures of graphs. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(1050, Error, Limit, "the graph has {} items; a picture holds at most {}")
// clang-format on

}  // namespace mrvlc::DiagCode
