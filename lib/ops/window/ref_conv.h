// The convolution of the reference semantics, for operands in any form.
#pragma once
#include <functional>
#include <span>

#include "mrvlc/ops/params.h"

namespace mrvlc::ops {

struct ConvOperands {
  // Elements [first, first + count) of the data and of the weights as they enter the products.
  std::function<void(int64_t first, int64_t count, double*out)> data, weights;
  std::span<const float> floats;  // the data, where they are floats that lie in memory; else empty
  std::function<double(int64_t channel)> bias;
};

// y = convolution, rounded to the type of y. Sums are in double: exact for products of 8-bit integers.
void ref_conv(const ConvParams& p, const ConvOperands& operands, Tensor& y);

}  // namespace mrvlc::ops
