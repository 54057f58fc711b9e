// Statistics of runs of memory, shared by the normalisations.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

struct Moments {
  double mean, inverse_deviation;
};
Moments moments_of(const std::vector<double>& row, double epsilon);

// Passes over an element, as multiply-adds (EmitContext::shared_loop).
inline constexpr int64_t kRowWork = 6;
// C: pointers x and y to row `row` of `n` elements of input and output 0.
void emit_row_pointers(EmitContext& context, ElementType elem, const std::string& n);
// C: mean and inverse deviation of the `n` elements at `x`, as `mean` and `inverse`.
void emit_moments(EmitContext& context, ElementType elem, const std::string& n, float epsilon);
}  // namespace mrvlc::ops
