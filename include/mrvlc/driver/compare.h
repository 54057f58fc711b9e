// What two values differ in: the one comparison of `mrvlc verify`, of ONNX's backend tests and of random
// models.
#pragma once
#include <string>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::driver {

// The largest difference that is none, by element type. What does not stand here has to be equal: truth
// values, texts, floats of eight bits and less.
struct Limits {
  double wide = 1e-3;    // float and double: |a-b| / (1+|b|)
  double narrow = 5e-3;  // float16 and bfloat16, likewise
  double integers = 0;   // |a-b|
};

struct Difference {
  // Of floats the largest |a-b| / (1+|b|), of integers |a-b|; infinite for texts, for different types, shapes
  // and numbers of items, and for a NaN or an infinity that only one of them has.
  double error = 0;
  double limit = 0;      // what `error` may be
  int64_t elements = 0;  // that differ by more
  std::string text;      // empty: they agree. "it is f32[2], not f32[3]"; "element [0,2] is nan, not 1.5"
  bool same() const { return text.empty(); }
};

// Values agree when they have the same type and shape, and every element of `actual` is within the limit of
// `expected`; NaNs are at the same places, infinities too, with their signs. A truth value is 0 or 1. Of
// sequences and optionals every item agrees. The text is about the element that differs most.
Difference compare(const Tensor& actual, const Tensor& expected, const Limits& limits);

}  // namespace mrvlc::driver
