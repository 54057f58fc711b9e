// Facts about shapes that are known at run time only.
#pragma once
#include <array>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::ops {

struct OpDef;
class InferContext;

// The results' sizes depend on the data themselves, not only on operands that say what the shape is.
bool has_data_dependent_shape(const ir::OpSchema& op);
// Its function needs run-time shapes: an operand or result is not static, or an operand that decides about
// the shape is no constant.
bool has_dynamic_shapes(const ir::Graph& graph, const ir::Node& node);

// Inference by samples asks what would be, were every dynamic dimension of a certain size: at its bound, one
// less, half of it (all together).
inline constexpr int kSamples = 3;
TensorType sample_type(TensorType type, int sample);
// Values that follow from dynamic dimensions (of Shape, and what is computed from it), one for each sample;
// empty tensors: not known.
using SampledValue = std::array<Tensor, kSamples>;
// infer_types, where operands (by position; nullptr: nothing is known) have such values.
Result<std::vector<TensorType>> infer_types_sampled(const OpDef& op, const InferContext& context,
                                                    const std::vector<const SampledValue*>& sampled);

// Bytes a value takes in generated code. A string is a pointer and a size. A sequence has a row of 8 numbers
// of 8 bytes for each tensor that it may hold, its dimensions and in the last its rank; then as many slots
// for the elements.
int64_t memory_bytes(const TensorType& type);
int64_t slot_bytes(const TensorType& sequence);

// The type with one dimension more or less; the capacity stays.
TensorType with_dim(TensorType type, int64_t axis, int64_t dim, bool dynamic);
TensorType without_dim(TensorType type, int64_t axis);

bool is_optional(const TensorType& type);     // a tensor or a sequence, or nothing
bool holds_sequence(const TensorType& type);  // a sequence, or an optional one

// The type of a sequence's tensors, and of a sequence of tensors of the type.
TensorType item_type(TensorType sequence);
TensorType sequence_type(TensorType item, int64_t length);

}  // namespace mrvlc::ops
