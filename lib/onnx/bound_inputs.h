// Inputs that become constants: --bind, and initializers that are inputs too.
#pragma once
#include <string_view>
#include <vector>

#include "mrvlc/onnx/importer.h"
#include "mrvlc/support/result.h"

namespace mrvlc::onnx {

// What --bind says of an input, by its name or by the name as messages show it; nullptr: nothing.
const BoundInput* bound_input(const ImportOptions& options, std::string_view name);
// The shape that the value gives an input whose dimensions are `dims`, -1 for open ones; nullopt where `dims`
// stays as it is: one number is for all elements.
std::optional<Shape> bound_shape(const BoundInput& value, bool has_rank, const Shape& dims);
// The tensor of this type. MRV0139.
Result<Tensor> bound_tensor(const BoundInput& value, std::string_view input, const TensorType& type);

}  // namespace mrvlc::onnx
