// Diagnostics 04xx: partition. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0401, Error, Usage, "{} '{}' matches no node name and no operator type of the model")
MRVLC_DIAG(0402, Error, Rejected, "cannot run on the accelerator as --accel '{}' asks: {}")
MRVLC_DIAG(0403, Error, Usage, "--cpu '{}' and --accel '{}' both name it")
MRVLC_DIAG(0404, Error, Usage, "batch {}: the target takes 1 to {}")
MRVLC_DIAG(0405, Warning, Usage, "{} '{}': {}; it holds for all of that")
MRVLC_DIAG(0406, Warning, Usage, "{} '{}' has no effect: {}; {}")
MRVLC_DIAG(0407, Error, Usage, "--precision '{}' matches no value of the model")
MRVLC_DIAG(0408, Warning, Usage, "--precision '{}': '{}' keeps its precision: {}{}")
// clang-format on

}  // namespace mrvlc::DiagCode
