// The range of a tensor that its integers cover.
#pragma once
#include "affine.h"
#include "histogram.h"
#include "mrvlc/quantize/quantize.h"

namespace mrvlc::quantize {

// By a method other than Best.
Affine affine_by(RangeMethod method, const Histogram& histogram, ElementType type);
// Sum of the squares of what rounding and cutting change.
double squared_error(const Histogram& histogram, const Affine& affine);

}  // namespace mrvlc::quantize
