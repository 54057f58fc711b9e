// Diagnostics 05xx: accelerator. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0501, Error, Rejected, "the accelerator cannot hold the smallest block of this layer in its {} bytes of on-chip memory")
MRVLC_DIAG(0502, Error, Rejected, "the accelerator back end cannot compile this layer: {}")
MRVLC_DIAG(0503, Error, Limit, "the region needs {} bytes of device memory; at most {} can be addressed")
MRVLC_DIAG(0504, Error, Limit, "--wb-pin: {} bytes of weights do not stay on chip beside the tensors; the fullest moment needs {} bytes more than the {} of a tile")
MRVLC_DIAG(0505, Error, Limit, "--wb-pin: weights can stay on chip for one region, the model has {}")
MRVLC_DIAG(0506, Warning, Rejected, "{} of {} weights are below the normal numbers of float16 (6.1e-5); what they lose is {:.2g} % of all weights (norm)")
MRVLC_DIAG(0507, Warning, Rejected, "its result may be beyond float16 (65504), and is stored as that for an operator that takes nothing else; --cpu keeps either on the CPU")
MRVLC_DIAG(0508, Warning, Rejected, "the padding value {:g} is beyond float16 and becomes infinite")
// clang-format on

}  // namespace mrvlc::DiagCode
