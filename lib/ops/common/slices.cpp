// Cuts and joins along an axis for sequences and scans, slices taken by a list of indices.
#include "common/slices.h"

#include "common/index_util.h"

namespace mrvlc::ops {

AxisSizes axis_sizes(const Shape& shape, int64_t axis) {
  return {element_count(Shape(shape.begin(), shape.begin() + axis)), shape[at(axis)],
          element_count(Shape(shape.begin() + axis + 1, shape.end()))};
}

StridedCopy slices_copy(const Shape& in, int64_t from, const Shape& out, int64_t to, int64_t axis,
                        int64_t count) {
  StridedCopy copy{in, row_major_strides(in), row_major_strides(out), 0, 0};
  copy.size[at(axis)] = count;
  copy.in_offset = from * copy.in[at(axis)];
  copy.out_offset = to * copy.out[at(axis)];
  return copy;
}

namespace {

// Strides of empty tensors may be too large for a number.
void copy_slices(const Tensor& in, int64_t from, Tensor& out, int64_t to, int64_t axis, int64_t count) {
  if (in.elements() > 0) run_copy(slices_copy(in.shape(), from, out.shape(), to, axis, count), in, out);
}

}  // namespace

Tensor cut_out(const Tensor& x, int64_t axis, int64_t begin, int64_t count) {
  Shape shape = x.shape();
  shape[at(axis)] = count;
  Tensor out(TensorType{x.elem(), shape});
  copy_slices(x, begin, out, 0, axis, count);
  return out;
}

std::optional<Tensor> join(const std::vector<Tensor>& parts, int64_t axis) {
  TensorType type{parts.front().elem(), parts.front().shape()};
  int64_t total = 0;
  for (const Tensor& part : parts) {
    if (part.shape().size() != type.shape.size()) return std::nullopt;
    type.shape[at(axis)] = part.shape()[at(axis)];
    if (part.elem() != type.elem || part.shape() != type.shape) return std::nullopt;
    auto sum = checked_add(total, part.shape()[at(axis)]);
    if (!sum) return std::nullopt;
    total = *sum;
  }
  type.shape[at(axis)] = total;
  Tensor out(type);
  int64_t to = 0;
  for (const Tensor& part : parts) {
    const int64_t count = part.shape()[at(axis)];
    copy_slices(part, 0, out, to, axis, count);
    to += count;
  }
  return out;
}

std::optional<Tensor> stack(const std::vector<Tensor>& items, int64_t axis) {
  std::vector<Tensor> parts;
  for (const Tensor& item : items) {
    Shape shape = item.shape();
    if (item.shape().size() != items.front().shape().size()) return std::nullopt;
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(item.reshaped(shape));
  }
  return join(parts, axis);
}

void take_slices(const AxisSizes& s, const std::vector<int64_t>& slices, const Tensor& in, Tensor& out) {
  if (out.elements() == 0) return;
  ElementBytes bytes(in, out);
  const auto count = static_cast<int64_t>(slices.size());
  for (int64_t i = 0; i < s.outer * count; ++i)
    bytes.copy((i / count * s.dim + slices[at(i % count)]) * s.inner, i * s.inner, s.inner);
}

}  // namespace mrvlc::ops
