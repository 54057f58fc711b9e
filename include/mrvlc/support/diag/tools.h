// Diagnostics 10xx: many models, search for causes, other machines, files given back. Rules in
// mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(1000, Error, Limit, "takes longer than {} s (--timeout)")
MRVLC_DIAG(1001, Error, Limit, "needs more memory than there is, or than --memory allows")
MRVLC_DIAG(1002, Error, Internal, "its process ended by {}; what it said is in '{}' (this is a bug in mrvlc; please report it)")
MRVLC_DIAG(1003, Warning, Io, "the result is not kept in the cache: {}")
MRVLC_DIAG(1004, Error, Limit, "its process was killed: by the system, when memory was short, or by somebody")
MRVLC_DIAG(1073, Error, Io, "cache '{}' is not used: {}; {}")
MRVLC_DIAG(1074, Warning, Io, "cache '{}': {} may write into it, and so decide what C you compile and run")
MRVLC_DIAG(1075, Error, Usage, "the folder of '{}' would be '{}', and '{}' is a file of the batch; rename the model")
MRVLC_DIAG(1070, Warning, Usage, "'{}' was written for another model (SHA-256 {}, this one is {}); its nodes are found by id, name and operator")
MRVLC_DIAG(1071, Warning, Usage, "'{}': {} of its nodes have another id in this model, and are found by name and operator; the first is {}")
MRVLC_DIAG(1072, Warning, Usage, "'{}': {} is not read: {}")
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
MRVLC_DIAG(1082, Error, Io, "'{}' is the library of a plug-in, which runs code: it is loaded only if a package '{}' has the same one; name its folder with --target-dir")
MRVLC_DIAG(1100, Error, Io, "proof.json cannot be used: {}")
MRVLC_DIAG(1101, Error, Usage, "the model of '{}' is not beside it: give it as the second operand, `mrvlc prove OUT MODEL.onnx`")
MRVLC_DIAG(1102, Error, Io, "'{}' is not the model of '{}': its SHA-256 is {}, and the compile read {}")
MRVLC_DIAG(1103, Error, Gate, "refused: {}")
MRVLC_DIAG(1104, Error, Gate, "{} of {} nodes are not proved; the first: {}")
MRVLC_DIAG(1105, Error, Gate, "the certificate does not hold: {}")
MRVLC_DIAG(1106, Warning, Gate, "{} of {} nodes are not proved; the first: {}")
MRVLC_DIAG(1107, Error, Gate, "a link of the evidence is missing: {}")
MRVLC_DIAG(1108, Warning, Gate, "some tests of the evidence did not run: {}")
// clang-format on

}  // namespace mrvlc::DiagCode
