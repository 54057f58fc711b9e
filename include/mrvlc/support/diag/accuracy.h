// Diagnostics 09xx: accuracy and calibration. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0901, Warning, Gate, "accuracy: output '{}' is expected to {}, more than {:g} ({}); docs/accuracy.md says what helps")
MRVLC_DIAG(0902, Warning, Gate, "'{}' reaches {:.6g}, beyond the range of fp16 (65504), which the accelerator stores it in: it overflows to infinity ({}); --cpu keeps what makes or reads it on the CPU")
MRVLC_DIAG(0903, Warning, Gate, "input '{}' reaches {:.6g}, beyond the range of fp16 (65504): the accelerator takes it as fp32, and so must every program that feeds it ({})")
MRVLC_DIAG(0904, Note, Gate, "accuracy is not known: {}")
MRVLC_DIAG(0905, Error, Io, "cannot read '{}': it is no calibration of mrvlc, or damaged: {}")
MRVLC_DIAG(0906, Error, Io, "'{}' is a calibration of another model: the SHA-256 of its model is {}, of this one {}")
MRVLC_DIAG(0907, Error, Gate, "layer {} ({}) computes something else: its own error is {:.2g}{}, at most {:.2g} is expected of its arithmetic (inputs: {})")
MRVLC_DIAG(0908, Warning, Gate, "layer {} ({}) loses accuracy: fp16 {}, from operands that are as they should be (inputs: {}); --cpu keeps it on the CPU")
MRVLC_DIAG(0909, Error, Gate, "--accuracy {:g}: {}")
MRVLC_DIAG(0910, Error, Gate, "there is nothing to choose from: the model cannot be compiled for an accelerator, or its probe is not made")
MRVLC_DIAG(0911, Note, Gate, "'{}' reaches {:.6g}, beyond the range of fp16 (65504): it is kept as {} (docs/rules.md; --precision NAME=fp16 leaves it)")
MRVLC_DIAG(0912, Error, Rejected, "there is nothing to make integers of: no convolution, Gemm or MatMul of float32 with constant weights that is not kept in floats")
MRVLC_DIAG(0913, Error, Gate, "--accuracy {:g} cannot be met: with one layer in integers the error of the outputs is more; with all of them it is {:.3g}")
MRVLC_DIAG(0914, Error, Rejected, "the model is one of integers already: '{}' ({})")
MRVLC_DIAG(0915, Warning, Rejected, "--float: nothing is called '{}'")
MRVLC_DIAG(0916, Error, Io, "--data: {}: input '{}' holds a number that is not finite")
MRVLC_DIAG(0917, Warning, Rejected, "{} tensors, '{}' first, were zero in all samples: their scales are guesses")
MRVLC_DIAG(0918, Warning, Gate, "{}: a product of what {} makes of integers is computed in fp16, so that integers of {} may be off by a step; in integers it runs where it has constant weights, one scale and nothing kept apart from it, and on the CPU with --cpu")
MRVLC_DIAG(0950, Warning, Rejected, "errors are measured on the {} samples that scales and weights were made of, and are too small; give 8 and more, or others by --validate")
MRVLC_DIAG(0951, Error, Gate, "--max-drop {:g} cannot be met: {} is {:.4g} in float32, and {:.4g} with all layers in integers; no choice of fewer layers loses so little")
MRVLC_DIAG(0952, Error, Io, "--metric {}: {}")
MRVLC_DIAG(0930, Warning, Gate, "accuracy is not known, and {:.0f} % of the multiply-accumulates run on the accelerator: {}; --data or 'mrvlc calibrate' take your samples, 'mrvlc verify' compares, --no-probe says that you know")
MRVLC_DIAG(0931, Note, Gate, "accuracy: output '{}' hardly moves over all inputs that were tried: what fp16 does to it on others is not known; --data or --calibration take yours")
MRVLC_DIAG(0932, Warning, Gate, "output '{}' is at most {:.2g}, and fp16 takes up to {:.0f} % of that ({}); --precision NAME=pair, --cpu NODE or a factor in the model keep it")
MRVLC_DIAG(0933, Error, Rejected, "output '{}' is NaN or infinite all over")
// clang-format on

}  // namespace mrvlc::DiagCode
