// Operators that run graphs of their own: If, Loop, Scan, SequenceMap. What a body reads from outside is an
// input of the node behind its ONNX inputs, and of the body behind its formal inputs. The attribute
// "formals" (set by the importer, not of ONNX) says how many formal inputs a body has; "max_rounds" (the
// same), how many rounds a Loop may have that data end: more is an error. 0: there is no limit.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::ops {

// A trip count from here on is none: exporters write the greatest number there is where data alone end a
// loop.
inline constexpr int64_t kNoTrips = INT32_MAX;
// The rounds of a Loop whose trip count is this constant (null: it is none); nullopt: data decide.
std::optional<int64_t> known_rounds(const Tensor* trips);

struct ScanParams {
  size_t states = 0;  // inputs that go round; the scanned ones follow
  std::vector<int64_t> input_axes, output_axes;
  std::vector<bool> input_reversed, output_reversed;
};
// `inputs`: number of formal inputs of the node. Axes as given (negative ones count from the back).
Result<ScanParams> scan_params(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs, size_t inputs);

// The narrowest type that holds values of both; nullopt when their elements or ranks differ.
std::optional<TensorType> join_types(const TensorType& a, const TensorType& b);
// A sequence or an optional of the values, of the narrowest type; without any its elements are undefined. An
// optional's type describes what it holds.
Tensor wrap(Wrapper wrapper, std::vector<Tensor> items);
// The type of a value that goes round a loop, when it comes in as `state` and goes out as `given`: dimensions
// that differ are dynamic with kNoBound, unless `state` bounds them already.
std::optional<TensorType> widen_state(const TensorType& state, const TensorType& given);

}  // namespace mrvlc::ops
