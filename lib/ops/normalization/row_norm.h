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

// C: pointers x and y to row `row` of `n` elements of input and output 0.
void emit_row_pointers(EmitContext& context, ElementType elem, const std::string& n);
// C: mean and inverse deviation of the `n` elements at `x`, as `mean` and `inverse`.
void emit_moments(EmitContext& context, ElementType elem, const std::string& n, float epsilon);
// C, for shapes known at run time only: the element of an operand that broadcasts to input 0, for element i
// of row `row`; rows are everything from `axis` on, of `n` elements.
std::string dynamic_row_operand(EmitContext& context, size_t input, int64_t axis, const std::string& n);

}  // namespace mrvlc::ops
