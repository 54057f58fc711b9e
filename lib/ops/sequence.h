// Pieces of the operators on sequences and optionals.
#pragma once
#include "infer_util.h"
#include "mrvlc/ops/open.h"

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

// How SplitToSequence cuts, as far as it is known before it runs.
struct SplitPlan {
  int64_t axis = 0;
  bool keep = true;     // the axis stays; false: it is dropped, all parts are of size 1
  bool sizes = false;   // the parts' sizes are given, as a vector
  bool chunk = false;   // one size is given for all parts but the last
  int64_t parts = 0;    // at most
  int64_t longest = 0;  // at most, along the axis
  bool equal = false;   // all parts have the size `longest`
};
Result<SplitPlan> split_plan(const InferContext& context);

Status emit_sequence_construct(EmitContext& context);
Status emit_sequence_empty(EmitContext& context);
Status emit_sequence_insert(EmitContext& context);
Status emit_sequence_erase(EmitContext& context);
Status emit_sequence_at(EmitContext& context);
Status emit_sequence_length(EmitContext& context);
Status emit_split_to_sequence(EmitContext& context);
Status emit_concat_from_sequence(EmitContext& context);
Status emit_optional(EmitContext& context);
Status emit_optional_get(EmitContext& context);
Status emit_optional_has(EmitContext& context);
// Identity of a wrapped value.
Status emit_wrapped_copy(EmitContext& context);

}  // namespace mrvlc::ops
