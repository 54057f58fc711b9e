// TensorProto and SparseTensorProto to Tensor.
#pragma once
#include <unordered_map>

#include "file/external_data.h"
#include "file/read_model.h"

namespace mrvlc::onnx {

// Checks dimensions: not negative, rank at most kMaxRank, product at most kMaxElements. The text says what is
// wrong.
std::optional<std::string> bad_shape(const Shape& shape);

// The IR's name; "float6e2m3" and the like for types that are not supported, else the number.
std::string element_type_text(int32_t data_type);

class TensorDecoder {
 public:
  explicit TensorDecoder(std::vector<std::filesystem::path> folders, StoredTensors stored = {})
      : external_(std::move(folders)), stored_(std::move(stored)) {}

  std::vector<ModelFile> external_files() const { return external_.files(); }

  // Consumes the data of the message; its name stays where it is, because scopes hold views of it. MRV0120 to
  // MRV0124.
  Result<Tensor> decode(pb::TensorProto& tensor);
  // As a dense tensor. Indices must be in range, ascending and without duplicates. MRV0125, MRV0122.
  Result<Tensor> decode(pb::SparseTensorProto& tensor);
  // As decode; but what was taken once may be taken again (a function's body is inlined wherever it is
  // called) and shares its memory.
  template <class Proto>
  Result<Tensor> take(Proto& message);

 private:
  // As stored: elements of less than eight bits are packed into U8.
  Result<Tensor> decode_stored(pb::TensorProto& tensor, const TensorType& type);

  ExternalData external_;
  StoredTensors stored_;
  std::unordered_map<const void*, Tensor> taken_;
  int64_t sparse_bytes_left_ = INT32_MAX;  // what sparse tensors may grow to, together
};

template <class Proto>
Result<Tensor> TensorDecoder::take(Proto& message) {
  if (auto it = taken_.find(&message); it != taken_.end()) return it->second;
  Result<Tensor> tensor = decode(message);
  if (tensor.ok()) taken_.emplace(&message, *tensor);
  return tensor;
}

}  // namespace mrvlc::onnx
