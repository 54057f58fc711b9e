// Shapes: static dimensions, row-major. TensorType is what an IR value carries.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mrvlc/support/checked.h"
#include "mrvlc/tensor/element_type.h"

namespace mrvlc {

using Shape = std::vector<int64_t>;

inline constexpr int64_t kMaxRank = 8;
// No tensor of a model may have more elements: a product that overflows, or a bomb, is refused long before
// memory is.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

// Elements of a verified shape (dims >= 0, product checked when the type was made).
int64_t element_count(const Shape& shape);
// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);
std::string to_string(const Shape& shape);  // "1x3x224x224"; "scalar" for rank 0

struct TensorType {
  ElementType elem = ElementType::Undefined;
  Shape shape;

  bool operator==(const TensorType&) const = default;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const { return elements() * byte_size(elem); }
};

std::string to_string(const TensorType& type);  // "f32[1,3,224,224]"

// Result shape of NumPy broadcasting; nullopt when the shapes do not agree.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);
// Strides that read a tensor of `shape` as if it had `target` (stride 0 where it is repeated). `shape` must
// broadcast.
Shape broadcast_strides(const Shape& shape, const Shape& target);

}  // namespace mrvlc
