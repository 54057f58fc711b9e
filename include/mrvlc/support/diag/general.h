// Diagnostics 00xx: general and files. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0001, Error, Io, "cannot open '{}': {}")
MRVLC_DIAG(0002, Error, Io, "cannot write '{}': {}")
MRVLC_DIAG(0003, Error, Io, "cannot read '{}': {}")
MRVLC_DIAG(0004, Error, Usage, "{}")
MRVLC_DIAG(0005, Error, Limit, "file is {} bytes; at most {} are read")
MRVLC_DIAG(0006, Error, Rejected, "'{}' is not a valid .npy file: {}")
MRVLC_DIAG(0007, Error, Internal, "internal error: {} (this is a bug in mrvlc; please report it)")
MRVLC_DIAG(0008, Error, Limit, "needs {} bytes of memory; the limit is {}")
MRVLC_DIAG(0009, Error, Gate, "{}")
MRVLC_DIAG(0010, Warning, Usage, "{} has no effect: {}; {}")
MRVLC_DIAG(0011, Warning, Rejected, "shapes known at run time only keep all {} nodes on the CPU: the accelerator's programs are made for one shape; fix the shapes, e.g. --input-shape {}={}")
MRVLC_DIAG(0012, Warning, Rejected, "{}: {}; {}")
MRVLC_DIAG(0013, Error, Gate, "{}: {}; {}")
MRVLC_DIAG(0014, Error, Gate, "{} was {} and is {}, worse by more than {}; 'mrvlc diff {} OUT' says what changed")
// clang-format on

}  // namespace mrvlc::DiagCode
