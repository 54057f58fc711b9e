#pragma once
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::test {

// Greatest difference relative to the greatest magnitude of `expected` (at least 1e-3); infinite when types
// differ.
double distance(const Tensor& actual, const Tensor& expected);

}  // namespace mrvlc::test
