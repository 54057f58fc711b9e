// Diagnostics 10xx: many models, search for causes, other machines. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(1000, Error, Limit, "takes longer than {} s (--timeout)")
MRVLC_DIAG(1001, Error, Limit, "needs more memory than there is, or than --memory allows")
MRVLC_DIAG(1002, Error, Internal, "its process ended by {}; what it said is in '{}' (this is a bug in mrvlc; please report it)")
MRVLC_DIAG(1003, Warning, Io, "the result is not kept in the cache: {}")
MRVLC_DIAG(1004, Error, Limit, "its process was killed: by the system, when memory was short, or by somebody")
MRVLC_DIAG(1010, Error, Rejected, "nothing is left of the graph")
MRVLC_DIAG(1011, Error, Usage, "--check does not fail on the whole model: {}")
MRVLC_DIAG(1012, Error, Rejected, "--check does not fail in the same way on the model as mrvlc writes it anew; what is wrong lies in the file's form, not in its operators")
MRVLC_DIAG(1013, Error, Gate, "tensor '{}' is the first that differs: {}; {} tensors before it agree")
MRVLC_DIAG(1014, Error, Usage, "the value of input '{}' is missing: {}.npy in the folder of --with, or --input {}=FILE")
MRVLC_DIAG(1015, Error, Io, "no file in '{}' is called after a tensor of the model; files are called NAME.npy, with '_' for characters outside [A-Za-z0-9_.-]")
MRVLC_DIAG(1020, Error, Io, "--on {}: ssh or scp ended with exit code {}: {}")
MRVLC_DIAG(1021, Error, Usage, "--cc compiles for {}, and the simulator that the program links is for {}; give one for that machine with --device-lib, or compile the model with --target host")
MRVLC_DIAG(1080, Warning, Usage, "-MD: the dependency file cannot follow {} of the environment: the build is not repeated when it changes; type the option instead")
MRVLC_DIAG(1081, Error, Io, "another batch writes into '{}': {}; this one is {}: wait for it, or give another -o")
// clang-format on

}  // namespace mrvlc::DiagCode
