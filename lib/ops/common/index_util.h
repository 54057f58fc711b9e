// Indices held in tensors: what Gather*, Scatter* and OneHot share.
#pragma once
#include <algorithm>

#include "common/dynamic_util.h"
#include "common/element_bytes.h"

namespace mrvlc::ops {

// All indices, negative ones counted from the end; MRV0208 when one is outside [-dim, dim).
Result<std::vector<int64_t>> read_indices(const Tensor& indices, int64_t dim);
// Indices of a dimension, in an input: all of its elements.
ElementRange index_range(const InferContext& context, size_t input, int64_t dim);
// MRV0208 when the input is a constant with an element out of its range.
Status check_known(const InferContext& context, const ElementRange& range);
Status check_known_indices(const InferContext& context, size_t input, Dim dim);
// Who sees to it that elements lie in their range in a function of static shapes: a check before its call (or
// they are constants, and looked at already), one at each element, or nobody: then no element must lead
// beyond the operands. Functions of run-time shapes check for themselves.
enum class RangeCheck : uint8_t { Before, Each, None };
// A check before the call reads the elements once more than they are used: for those that are used often, or
// cost little beside what is done for each.
Result<RangeCheck> require_range(EmitContext& context, const ElementRange& range);
Result<RangeCheck> require_indices(EmitContext& context, size_t input, const std::string& dim);
// One at each element, which emit_index makes, unless they are constants.
Result<RangeCheck> require_each(EmitContext& context, const ElementRange& range);
Result<RangeCheck> require_each_index(EmitContext& context, size_t input, const std::string& dim);
// Declares the integer NAME from an index expression, counted from the end of `dim` when it is negative.
void emit_index(EmitContext& context, std::string_view name, std::string_view expression,
                const std::string& dim, RangeCheck check);

// Copies runs of elements by position, whatever their type.
class ElementBytes {
 public:
  ElementBytes(const Tensor& in, Tensor& out) : size_(byte_size(in.elem())) {
    if (in.elem() == ElementType::String) {
      texts_in_ = in.string_data().data();
      texts_out_ = out.mutable_strings().data();
    } else {
      in_ = in.bytes().data();
      out_ = out.mutable_data<std::byte>().data();
    }
  }
  void copy(int64_t from, int64_t to, int64_t count) {
    if (count <= 0) return;
    if (texts_in_ != nullptr) {
      std::copy_n(texts_in_ + from, count, texts_out_ + to);
    } else {
      std::memcpy(out_ + to * size_, in_ + from * size_, static_cast<size_t>(count * size_));
    }
  }

 private:
  int64_t size_;
  const std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  const std::string* texts_in_ = nullptr;
  std::string* texts_out_ = nullptr;
};

// GatherElements and ScatterElements: indices (input 1) of the data's rank; along `axis` they say where.
struct AlongAxis {
  size_t axis = 0;
  int64_t dim = 0, stride = 0;  // of the data along the axis
  Shape sizes, strides;         // of the indices; of the data, 0 along the axis

  // f(n, base): flat position in the indices, and of the data element at index 0 along the axis.
  template <class F>
  void for_each(F f) const;
};
Status check_along_axis(const InferContext& context);
Result<AlongAxis> along_axis(const InferContext& context);
// Loops over the indices that leave n, position in them; the text of the position in the data.
Result<std::string> open_along_axis(EmitContext& context);
void close_along_axis(EmitContext& context);

// GatherND and ScatterND: the last dimension of the indices (input 1) holds tuples of positions.
struct TupleIndices {
  int64_t batches = 1, per_batch = 1, tuple = 0;  // tuples: batches * per_batch
  int64_t slice = 1, batch_stride = 0;            // elements a tuple selects; data elements of one batch
  Shape dims, strides;                            // of the data dimensions the tuple counts
  Result<std::vector<int64_t>> offsets(const Tensor& indices) const;  // of every tuple, in data elements
};
// Dimensions of what the tuples select.
Result<Dims> selected_dims(const InferContext& context, int64_t batch_dims);
TupleIndices tuple_indices(const InferContext& context, int64_t batch_dims);
Texts selected_texts(const EmitContext& context, int64_t batch_dims);
// The checks of the positions of tuples that select nothing.
Status require_tuples(EmitContext& context, int64_t batch_dims);
// A loop over the tuples that leaves ptrdiff_t n (tuple) and at (offset); the text of the number of elements
// that each selects.
Result<std::string> open_tuples(EmitContext& context, int64_t batch_dims);

template <class F>
void AlongAxis::for_each(F f) const {
  int64_t count = element_count(sizes);
  for (int64_t n = 0; n < count; ++n) {
    int64_t base = 0, rest = n;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) base += rest % sizes[d] * strides[d];
    f(n, base);
  }
}

}  // namespace mrvlc::ops
