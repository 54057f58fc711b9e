// Operators that run graphs of their own: If, Loop, Scan, SequenceMap. What a body reads from outside is an
// input of the node behind its ONNX inputs, and of the body behind its formal inputs. The attribute
// "formals" (set by the importer, not of ONNX) says how many formal inputs a body has.
#pragma once
#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::ops {

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
