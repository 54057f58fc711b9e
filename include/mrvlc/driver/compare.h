// What two values differ in: the one comparison of `mrvlc verify`, of ONNX's backend tests and of random
// models.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::driver {

// The largest difference that is none, by element type. What does not stand here has to be equal: truth
// values, texts, floats of eight bits and less.
struct Limits {
  double wide = 1e-3;    // float and double: |a-b| / (1+|b|)
  double narrow = 5e-3;  // float16 and bfloat16, likewise
  double integers = 0;   // |a-b|
};

// What is no difference beside the limits, because a correct value may move so far: of one value.
struct Allowance {
  // All differences here are |a-b|. They are divided by 1+|b| of the value that is compared with: a wrong
  // value far from all movement is not excused by its own size.
  std::vector<double> by;  // by element, of floats; empty: nothing
  int64_t jumps = 0;       // so many elements that differ by more may do so, too,
  double jump = 0;         // and by no more than this: another side of a rounding or a comparison
};

struct Difference {
  // Of floats the largest |a-b| / (1+|b|), of integers |a-b|; infinite for texts, for different types, shapes
  // and numbers of items, and for a NaN or an infinity that only one of them has.
  double error = 0;
  double limit = 0;      // what `error` may be, with the allowance of that element
  int64_t elements = 0;  // that differ by more
  double ulp = 0;        // the most values of the type that lie between two elements; -1: no floats
  std::string text;      // empty: they agree. "it is f32[2], not f32[3]"; "element [0,2] is nan, not 1.5"
  bool same() const { return text.empty(); }
};

// Values agree when they have the same type and shape, and every element of `actual` is within the limit of
// `expected`; NaNs are at the same places, infinities too, with their signs. A truth value is 0 or 1. Of
// sequences and optionals every item agrees. The text is about the element that differs most.
// `allowed`: of values that are no sequence or optional.
Difference compare(const Tensor& actual, const Tensor& expected, const Limits& limits,
                   const Allowance& allowed = {});
// How much element i differs by, in the units of Difference::error.
double element_error(const Tensor& actual, const Tensor& expected, int64_t i);
// Its limit without an allowance.
double limit_of(ElementType elem, const Limits& limits);
// The values of the type that lie between the two, of floats of 16 bits and more: 0 where they are the same,
// 1 for neighbours; infinite where only one is finite, or a NaN.
double ulps_between(const Tensor& actual, const Tensor& expected, int64_t i);

}  // namespace mrvlc::driver
