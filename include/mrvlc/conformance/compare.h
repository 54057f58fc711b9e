// What two values differ in.
#pragma once
#include <string>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::conformance {

// Empty when they agree: the same type; integers, bools, strings and floats of 8 bits and less exactly; other
// floats to max |a-b| / (1 + |b|) of 1e-3 (5e-3 for the 16-bit types), NaNs and infinities at the same
// places; of sequences and optionals every item. `tolerance`: of those floats, where it is more.
std::string difference(const Tensor& actual, const Tensor& expected, double tolerance = 0);

}  // namespace mrvlc::conformance
