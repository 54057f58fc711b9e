// Diagnostics 01xx: the importer: file, graph and names. Rules in mrvlc/support/diag.h.
#pragma once
#include "mrvlc/support/diag.h"

namespace mrvlc::DiagCode {

// clang-format off
MRVLC_DIAG(0101, Error, Rejected, "not an ONNX model: {}")
MRVLC_DIAG(0102, Error, Rejected, "IR version {}")
MRVLC_DIAG(0103, Error, Rejected, "opset of domain '{}': {}")
MRVLC_DIAG(0104, Error, Rejected, "the model has no graph")
MRVLC_DIAG(0105, Error, Rejected, "the graph has no outputs")
MRVLC_DIAG(0106, Error, Rejected, "operators of domain '{}' are not supported")
MRVLC_DIAG(0107, Error, Rejected, "the operator is not supported")
MRVLC_DIAG(0108, Error, Rejected, "opset {} is not supported for this operator; supported are {} to {}")
MRVLC_DIAG(0109, Error, Rejected, "control flow is not supported: {}")
MRVLC_DIAG(0110, Error, Rejected, "name '{}' is defined more than once")
MRVLC_DIAG(0111, Error, Rejected, "'{}' is read, but nothing defines it")
MRVLC_DIAG(0112, Error, Rejected, "nodes form a cycle: {}")
MRVLC_DIAG(0113, Warning, Rejected, "the nodes are not in topological order; they were sorted")
MRVLC_DIAG(0114, Error, Rejected, "{} has an empty name")
MRVLC_DIAG(0115, Error, Rejected, "function '{}': {}")
MRVLC_DIAG(0116, Error, Limit, "the model has more than {} nodes, those of inlined functions counted")
MRVLC_DIAG(0117, Error, Limit, "{}")
MRVLC_DIAG(0118, Error, Rejected, "the node has no outputs")
MRVLC_DIAG(0119, Note, Rejected, "too many errors; the rest is not shown")
MRVLC_DIAG(0120, Error, Rejected, "tensor '{}': {}")
MRVLC_DIAG(0121, Error, Rejected, "tensor '{}': element type {} is not supported")
MRVLC_DIAG(0122, Error, Limit, "tensor '{}': takes {} bytes; at most {} are read")
MRVLC_DIAG(0123, Error, Rejected, "external data of tensor '{}': {}")
MRVLC_DIAG(0124, Error, Io, "external data of tensor '{}': cannot read '{}': {}")
MRVLC_DIAG(0125, Error, Rejected, "sparse tensor '{}': {}")
MRVLC_DIAG(0130, Error, Rejected, "input '{}': {}")
MRVLC_DIAG(0131, Error, Rejected, "input '{}': dimension {} ({}) is not known; give the shape, e.g. --input-shape {}={}")
MRVLC_DIAG(0132, Error, Usage, "--input-shape: the model has no input '{}'{}; inputs are {}")
MRVLC_DIAG(0133, Error, Usage, "--input-shape: {} does not fit input '{}': {}")
MRVLC_DIAG(0134, Warning, Rejected, "input '{}': dimension 0 ({}) is taken for the batch and set to {}")
MRVLC_DIAG(0135, Error, Rejected, "dimension '{}' is {} in input '{}' but {} in input '{}'")
MRVLC_DIAG(0136, Note, Rejected, "{} inputs have initializers; they are constants and cannot be overridden")
MRVLC_DIAG(0137, Error, Usage, "batch {}: must be at least 1")
MRVLC_DIAG(0140, Error, Rejected, "attribute '{}' {}")
MRVLC_DIAG(0141, Warning, Rejected, "'{}' is declared {}, but {} is computed")
MRVLC_DIAG(0142, Error, Rejected, "output '{}' is declared {}, but {} is computed")
MRVLC_DIAG(0143, Error, Rejected, "output '{}': {}")
MRVLC_DIAG(0144, Warning, Rejected, "'{}': its size is known at run time only and nothing bounds it; up to {} elements are provided for; give a bound, e.g. --bound {}=64x4")
MRVLC_DIAG(0145, Note, Rejected, "input '{}': the shape {} is taken from the data")
MRVLC_DIAG(0146, Warning, Rejected, "{} cannot run with these shapes (node '{}': {}); should it be taken at run time, that is an error")
MRVLC_DIAG(0147, Error, Limit, "the model to write takes {} bytes; a file of ONNX holds less than 2 GiB")
MRVLC_DIAG(0148, Error, Rejected, "the operator cannot be written in today's ONNX: {}")
// clang-format on

}  // namespace mrvlc::DiagCode
