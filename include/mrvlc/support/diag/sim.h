// Diagnostics 07xx: simulator and run. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0701, Error, Rejected, "not a valid model binary: {}")
MRVLC_DIAG(0702, Error, Rejected, "invalid instruction: {}")
MRVLC_DIAG(0703, Error, Rejected, "section {}, instruction {}: {}")
MRVLC_DIAG(0704, Error, Rejected, "the binary does not fit the target: {}")
MRVLC_DIAG(0705, Error, Rejected, "section {}: deadlock, {}")
MRVLC_DIAG(0706, Error, Usage, "input {}: {} bytes given, the model takes {}")
MRVLC_DIAG(0707, Error, Usage, "{} inputs given, the model takes {}")
MRVLC_DIAG(0708, Error, Io, "the C compiler {} failed with exit code {}:\n{}")
MRVLC_DIAG(0709, Error, Rejected, "the program failed with exit code {}:\n{}")
MRVLC_DIAG(0711, Warning, Gate, "--data: {} has no output_{}: '{}' is not compared")
MRVLC_DIAG(0712, Error, Io, "cannot read '{}': it was changed after the compile (its SHA-256 is not the manifest's)")
MRVLC_DIAG(0713, Error, Io, "cannot read '{}': the manifest of its folder does not list it")
MRVLC_DIAG(0714, Warning, Gate, "{}: output '{}' is beyond fp16: {}{}")
MRVLC_DIAG(0715, Note, Gate, "inputs '{}' are left out: {}")
MRVLC_DIAG(0716, Note, Gate,
           "{} of {} sets of inputs are tried: a run takes {} steps, together at most {}; '--sets all' tries them all")
MRVLC_DIAG(0717, Warning, Gate, "a CN10K driver does not load this binary: {}")
MRVLC_DIAG(0718, Error, Rejected, "{} took longer than {} s (--timeout), and was ended")
MRVLC_DIAG(0719, Error, Io, "ONNX Runtime is not at hand: {}")
MRVLC_DIAG(0720, Error, Rejected, "ONNX Runtime gives no outputs: {}")
// clang-format on

}  // namespace mrvlc::DiagCode
