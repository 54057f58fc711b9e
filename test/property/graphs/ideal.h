// An oracle of the accelerator's accuracy, written from docs/arithmetic.md alone: float32 arithmetic on
// values that are rounded to fp16 where they are stored between layers. It takes every operator for a layer
// of its own, so a machine that fuses layers rounds less often; it has no reason to be worse.
#pragma once
#include "model.h"

namespace mrvlc::graphs {

// Gives every float32 input an amplitude of its own from 1e-7 to 1e5, and all values what follows from that.
// False: an operator does not take it.
bool to_edges(Model& model, uint64_t seed);

struct Ideal {
  bool comparable = true;  // no step (Floor, ArgMax, a comparison) stands behind a rounded value
  double error = 0;        // the largest |a-b| of all elements and runs
  std::string overflow;    // the first operator, "input" or "constant" that leaves fp16, when the output does
};
// By output; roundings to the nearest, and by lot to either side.
std::vector<Ideal> ideal_fp16(const Model& model);

// What is worse than four times the ideal's error, over a floor of some units of fp16; empty: nothing, or it
// cannot be compared.
std::string worse_than(const Ideal& ideal, const Tensor& actual, const Tensor& expected);

}  // namespace mrvlc::graphs
