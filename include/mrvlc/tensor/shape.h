// Shapes: row-major dimensions. TensorType is what an IR value carries: most are static; dimensions that are
// known at run time only are dynamic and have a bound, see docs/decisions/0007.
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

// What wraps the tensors of a value (ONNX's type constructors sequence and optional).
enum class Wrapper : uint8_t { None, Sequence, Optional, OptionalSequence };

// As the bound of a dynamic dimension, in results of inference alone: nothing bounds it.
inline constexpr int64_t kNoBound = -1;

// In `dynamic`: the rank too is known at run time only; `shape` is empty, `capacity` bounds the elements.
// Only tensors in sequences have such types.
inline constexpr uint32_t kDynamicRank = 1u << 31;

struct TensorType {
  ElementType elem = ElementType::Undefined;
  Shape shape;            // of a dynamic dimension: the most it can be
  uint32_t dynamic = 0;   // bit d: dimension d is known at run time only
  int64_t capacity = -1;  // elements at most, when that is less than the product of `shape`; else -1
  Wrapper wrapper = Wrapper::None;  // of a wrapped type the rest describes one tensor
  int64_t length = 0;               // of sequences: tensors at most

  bool operator==(const TensorType&) const = default;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  // Every dimension is known at compile time, and nothing wraps it.
  bool is_static() const { return dynamic == 0 && wrapper == Wrapper::None; }
  bool is_dynamic(int64_t d) const { return (dynamic >> d & 1u) != 0; }
  // Of one tensor; at most so many where dimensions are dynamic.
  int64_t elements() const { return capacity >= 0 ? capacity : element_count(shape); }
  int64_t bytes() const { return elements() * byte_size(elem); }
  bool has_rank() const { return (dynamic & kDynamicRank) == 0; }
  // The same with other elements.
  TensorType with_elem(ElementType e) const {
    TensorType t = *this;
    t.elem = e;
    return t;
  }
};

// "f32[1,3,224,224]"; "f32[<=8,4]" with a dynamic dimension, "i64[<=9,<=9;9]" with a capacity;
// "sequence(f32[2,<=3],16)", "optional(f32[2])", "optional(sequence(f32[2],16))".
std::string to_string(const TensorType& type);
// Could a value of the second, static or unwrapped, type be one of the first? Dimensions within the bounds.
bool admits(const TensorType& type, const TensorType& actual);

// Result shape of NumPy broadcasting; nullopt when the shapes do not agree.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);
// Strides that read a tensor of `shape` as if it had `target` (stride 0 where it is repeated). `shape` must
// broadcast.
Shape broadcast_strides(const Shape& shape, const Shape& target);

}  // namespace mrvlc
