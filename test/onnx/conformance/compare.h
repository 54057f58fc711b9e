// What two tensors differ in.
#pragma once
#include <string>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::test {

// Empty when they agree: the same type; integers, bools and strings exactly; floats to max |a-b| / (1 + |b|)
// of 1e-3 (5e-3 for the 16-bit types), NaNs and infinities at the same places.
std::string difference(const Tensor& actual, const Tensor& expected);

}  // namespace mrvlc::test
