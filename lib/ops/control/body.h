// Pieces of the operators that run bodies.
#pragma once
#include <span>

#include "common/infer_util.h"

namespace mrvlc::ops {

using Body = std::shared_ptr<ir::Graph>;

// MRV0204 when it is missing.
Result<Body> body_of(const InferContext& context, std::string_view attr);
std::vector<TensorType> result_types(const ir::Graph& body);
std::vector<Tensor> inputs_from(const EvalContext& context, size_t first, size_t count);
// The type of `count` scanned tensors along a new axis; `dynamic`: at most so many, or any number (kNoBound).
TensorType scanned_type(const TensorType& item, int64_t axis, int64_t count, bool dynamic);

// What a body gives back round after round: the states, then a tensor for each scanned output.
struct Rounds {
  std::vector<Tensor> states;
  std::vector<std::vector<Tensor>> scanned;

  // Results of one round, the states from `first` on.
  void take(std::vector<Tensor> results, size_t first);
  // Sets the outputs. `items`: types of the scanned tensors, for when there were no rounds; `axes`: where
  // they are stacked.
  Status give(const EvalContext& context, std::span<const TensorType> items, std::span<const int64_t> axes);
};

// An operator, without its attributes and functions.
OpDef control_flow_def(std::string_view name);
ir::AttrSpec formals_attr();

}  // namespace mrvlc::ops
