// What ONNX's backend tests hold: models whose inputs have values in files beside them.
#pragma once
#include <filesystem>

#include "mrvlc/support/result.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::onnx {

// An input as a model declares it, before any shape is decided.
struct DeclaredValue {
  std::string name;
  Wrapper wrapper = Wrapper::None;
  bool has_shape = false;
  Shape shape;                       // -1: dynamic
  std::vector<std::string> symbols;  // of each dimension its name; may be empty
};

// In the order of the model, without those that an initializer gives a value.
Result<std::vector<DeclaredValue>> declared_inputs(const std::filesystem::path& model);
Result<std::vector<DeclaredValue>> declared_outputs(const std::filesystem::path& model);

// A file with a TensorProto, SequenceProto or OptionalProto, as the wrapper says.
Result<Tensor> read_value_pb(const std::filesystem::path& path, Wrapper wrapper);

}  // namespace mrvlc::onnx
