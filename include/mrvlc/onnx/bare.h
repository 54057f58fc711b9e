// A model without what is its owner's own.
#pragma once
#include <filesystem>

#include "mrvlc/support/result.h"

namespace mrvlc::onnx {

// Constants of more elements lose their values: enough is left to say shapes, axes and scales.
inline constexpr int64_t kBareFloats = 8, kBareIntegers = 64;

// The model of the file with zeros for weights, those in external data too, and without texts for people
// (doc_string, metadata). Names, operators, types and shapes stay. MRV0147: its zeros are more than protobuf
// holds.
Result<std::string> bare_model(const std::filesystem::path& model);

}  // namespace mrvlc::onnx
