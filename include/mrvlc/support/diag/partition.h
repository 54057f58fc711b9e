// Diagnostics 04xx: partition. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0401, Error, Usage, "{} matches no node, no operator type and no tensor of the model{}")
MRVLC_DIAG(0402, Error, Rejected, "cannot run on the accelerator as {} asks: {}")
MRVLC_DIAG(0403, Error, Usage, "{} and {} both name it")
MRVLC_DIAG(0404, Error, Usage, "batch {}: the target takes 1 to {}")
MRVLC_DIAG(0405, Warning, Usage, "{}: {}; it holds for all of that")
MRVLC_DIAG(0406, Warning, Usage, "{} has no effect: {}; {}")
MRVLC_DIAG(0407, Error, Usage, "--precision '{}' matches no value of the model{}")
MRVLC_DIAG(0408, Warning, Usage, "--precision '{}': '{}' keeps its precision: {}{}")
MRVLC_DIAG(0409, Error, Usage, "{}: the model has no tensor '{}'{}")
MRVLC_DIAG(0410, Error, Usage, "{}: no way leads between these tensors")
MRVLC_DIAG(0411, Error, Usage, "{} and {} contradict each other here: {}")
MRVLC_DIAG(0412, Error, Rejected, "{} cannot be kept: {}")
MRVLC_DIAG(0413, Error, Usage, "'{}' is no file for --placement: {}")
MRVLC_DIAG(0414, Error, Rejected, "host model '{}': {}")
MRVLC_DIAG(0415, Error, Rejected, "host model '{}': field '{}' {}")
MRVLC_DIAG(0416, Warning, Rejected, "a run is expected to take {}; the host alone would take {}: {} is faster")
MRVLC_DIAG(0417, Note, Usage, "--partition cost: another choice of targets may take up to {:.1f} % less: not all of them were looked at")
MRVLC_DIAG(0418, Note, Usage, "--partition cost: {} layer{} not looked at: more than {} begin at one node")
// clang-format on

}  // namespace mrvlc::DiagCode
