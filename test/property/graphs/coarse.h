// What of a model can be compared when the accelerator computes parts of it, and how closely.
//
// The accelerator stores every value between two layers as fp16, and rounds constants and what enters a
// region (docs/arithmetic.md). Which values those are is the partition's choice, so the bound holds for any:
// every float32 value of the model, constants and inputs too, is moved by as much as a rounding to fp16 may
// move it, up or down by lot, and operators make of the moved ones what they make. What outputs move by, in
// several such runs, is their sensitivity; the tolerance is a multiple of it, over a floor. What a step
// (Floor, Cast to an integer, a comparison, ArgMax, TopK...) makes of a value that moved cannot be compared,
// nor can what depends on it; and neither can outputs that move too much. What no such value led to is exact.
#pragma once
#include "model.h"

namespace mrvlc::graphs {

// Of each output of a set of data, max |a-b| / (1 + |b|); nullopt: it cannot be compared.
std::vector<std::optional<double>> fp16_tolerances(const Model& model, size_t set = 0);

}  // namespace mrvlc::graphs
