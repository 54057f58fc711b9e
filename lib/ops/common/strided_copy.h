// A rectangular copy: every data movement that is an affine map of indices (Transpose, Slice, Concat, Expand,
// ...).
#pragma once
#include "common/element_bytes.h"
#include "common/emit_util.h"

namespace mrvlc::ops {

// Element out[out_offset + i . out] = in[in_offset + i . in] for every index i within `size`. Strides in
// elements; those of the input may be 0 (repetition) or negative.
struct StridedCopy {
  Shape size, in, out;
  int64_t in_offset = 0, out_offset = 0;
};

// Row-major input of `shape` to the same shape.
StridedCopy plain_copy(const Shape& shape);
// The same copy with loops of one dropped and neighbouring loops that continue each other merged.
StridedCopy merge_loops(const StridedCopy& copy);
// Types are equal.
void run_copy(const StridedCopy& copy, const Tensor& in, Tensor& out);
// Loops around memcpy of contiguous runs; `in` and `out` are C pointers to elements of type `elem`.
void emit_copy(EmitContext& context, const StridedCopy& copy, std::string_view in, std::string_view out,
               ElementType elem);

}  // namespace mrvlc::ops
