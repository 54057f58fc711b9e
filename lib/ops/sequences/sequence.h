// Pieces of the operators on sequences and optionals.
#pragma once
#include "common/infer_util.h"
#include "mrvlc/ops/dynamic_shapes.h"

namespace mrvlc::ops {

inline bool is_sequence(const TensorType& type) {
  return type.wrapper == Wrapper::Sequence;
}
// MRV0208 unless input i is a sequence.
Status check_sequence(const InferContext& context, size_t i);
// MRV0208 unless input i is a plain tensor.
Status check_tensor(const InferContext& context, size_t i);
// A sequence of the tensors, of elements `elem` when there is none.
Tensor make_sequence(ElementType elem, std::vector<Tensor> items);
// An operator without attributes.
OpDef sequence_def(std::string_view name, int since, int min_inputs, int max_inputs,
                   decltype(OpDef::infer) infer, decltype(OpDef::eval) eval, decltype(OpDef::emit) emit);
// Identity of a wrapped value.
Status emit_wrapped_copy(EmitContext& context);

}  // namespace mrvlc::ops
