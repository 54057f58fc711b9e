// How far a value is from what float32 gives: the one measure of accuracy.
#pragma once
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::calibration {

// Of floats: max |a-b| / (1+|b|); infinite where `actual` is not finite and `expected` is, and where their
// shapes differ, as those of a NonMaxSuppression may.
// Elements that are not finite in float32 say nothing about fp16.
double float_error(const Tensor& actual, const Tensor& expected);
// max |a-b| of elements that are finite in both; infinite where shapes differ.
double difference(const Tensor& actual, const Tensor& expected);
// The largest finite magnitude; 0 of what are no floats.
double magnitude(const Tensor& tensor);

}  // namespace mrvlc::calibration
