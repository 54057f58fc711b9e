// Values of a model in files, see docs/values.md: .npy for tensors of numbers, .pb as in ONNX's test data,
// .json for all, strings, sequences and optionals too.
#pragma once
#include <filesystem>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::driver {

// By the file's extension. `wrapper` says what a .pb holds, which does not say it itself; what another file
// holds is told by the value's type. Errors: MRV0001, MRV0003 (not such a file, with the reason), and those
// of the decoder of TensorProto.
Result<Tensor> read_value(const std::filesystem::path& file, Wrapper wrapper);
// The value as one of the model's type: files do not say what an empty sequence or optional is of, .npy has
// other names for elements (bfloat16 is uint16), and some of ONNX's test data do, too.
Tensor as_declared(Tensor value, const TensorType& declared);

// Has the type values that no .npy file holds?
bool needs_json(const TensorType& type);
Result<Tensor> parse_value_json(std::string_view text);
// `type`, of the model, says what an empty value is of.
std::string to_value_json(const Tensor& value, const TensorType& type);

// The form in which example programs read and write what .npy does not hold; docs/values.md.
std::string to_value_bytes(const Tensor& value);
// What is wrong with the bytes otherwise.
Result<Tensor> parse_value_bytes(std::string_view bytes, const TensorType& type);

}  // namespace mrvlc::driver
