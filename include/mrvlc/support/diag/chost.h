// Diagnostics 06xx: host code. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0601, Error, Rejected, "operator {} has no C implementation")
MRVLC_DIAG(0602, Error, Rejected, "element type {} cannot be used on the host")
MRVLC_DIAG(0603, Error, Usage, "'{}' is not a C identifier")
MRVLC_DIAG(0604, Error, Limit, "the arena needs {} bytes, {} more than its limit of {}; no plan needs less than {}; alive at the peak: {}")
MRVLC_DIAG(0605, Error, Rejected, "operator {} cannot run where a shape is known at run time only")
MRVLC_DIAG(0606, Error, Rejected, "tuning file '{}': {}")
MRVLC_DIAG(0607, Warning, Usage, "tuning file '{}' asks for '{}', which {}; it is computed by '{}', as the model of costs has it{}")
MRVLC_DIAG(0608, Warning, Usage, "tuning file '{}' knows none of the {} layers that have more than one kernel: it is of another network, or of other options; 'mrvlc tune' measures this one")
MRVLC_DIAG(0609, Note, Usage, "--host-weights fp16: {} tensor{} of weights in {} bytes instead of {}{}")
MRVLC_DIAG(0610, Warning, Usage, "its weights stay fp32: {}")
MRVLC_DIAG(0611, Error, Usage, "--emit single: {}; compile with --target host, or without --emit single")
MRVLC_DIAG(0612, Error, Usage, "--state {}: {}")
MRVLC_DIAG(0613, Note, Usage, "state: input '{}' is output '{}' of the run before, {} bytes, {}")
MRVLC_DIAG(0640, Warning, Limit, "the program takes {} bytes beside its weights ({} bytes): the arena {}, inputs and outputs {}; alive in the arena at the peak: {}; smaller bounds ({}) take less, --arena-limit {} accepts it")
MRVLC_DIAG(0641, Error, Limit, "the values take more than {} bytes together, for which no memory is planned; the largest: {}; smaller bounds (--input-shape, --bound) take less")
MRVLC_DIAG(0642, Error, Rejected, "--measure-size: '{}' made no ELF file of {}: sizes are read from those alone")
MRVLC_DIAG(0643, Warning, Limit, "the weights take {} bytes, more than the {} that linkers reach: the program loads or maps {}_weights.bin instead, as with --weights blob, and NAME_device takes them")
MRVLC_DIAG(0644, Error, Limit, "the weights take {} bytes, more than the {} that can be part of a program: --weights c cannot hold them, --weights blob can")
// clang-format on

}  // namespace mrvlc::DiagCode
