// Typed access to runs of elements, so that the reference semantics pay for the element type once a run, not
// an element.
#pragma once
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::ops {

// out[k] = element first + k * stride, for k < n. Integers from floats truncate as Tensor::as_int does.
void load_run(const Tensor& t, int64_t first, int64_t stride, int64_t n, double* out);
void load_run(const Tensor& t, int64_t first, int64_t stride, int64_t n, int64_t* out);
void load_run(const Tensor& t, int64_t first, int64_t stride, int64_t n, uint64_t* out);
// Elements first + k * stride = in[k]; rounding and wrapping of Tensor::set_double and set_int.
void store_run(Tensor& t, int64_t first, int64_t stride, int64_t n, const double* in);
void store_run(Tensor& t, int64_t first, int64_t stride, int64_t n, const int64_t* in);
void store_run(Tensor& t, int64_t first, int64_t stride, int64_t n, const uint64_t* in);

// The greatest or lowest value of a type, infinities for floats: where a running minimum or maximum starts.
Tensor extreme_value(ElementType elem, bool highest);

}  // namespace mrvlc::ops
