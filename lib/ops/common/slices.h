// Tensors along one axis: slices copied, cut out and joined, of elements of any type.
#pragma once
#include "common/strided_copy.h"

namespace mrvlc::ops {

// A shape around an axis.
struct AxisSizes {
  int64_t outer = 1, dim = 0, inner = 1;
};
AxisSizes axis_sizes(const Shape& shape, int64_t axis);

// `count` slices from place `from` of one shape to place `to` of another, which differs along the axis only.
StridedCopy slices_copy(const Shape& in, int64_t from, const Shape& out, int64_t to, int64_t axis,
                        int64_t count);
// The slices [begin, begin + count).
Tensor cut_out(const Tensor& x, int64_t axis, int64_t begin, int64_t count);
// One tensor at least, one behind the other; nullopt when their elements, or shapes but for the axis, differ.
std::optional<Tensor> join(const std::vector<Tensor>& parts, int64_t axis);
// The same along a new axis.
std::optional<Tensor> stack(const std::vector<Tensor>& items, int64_t axis);
// Fills `out` with the slices of these numbers; `s`: sizes of the input.
void take_slices(const AxisSizes& s, const std::vector<int64_t>& slices, const Tensor& in, Tensor& out);

}  // namespace mrvlc::ops
