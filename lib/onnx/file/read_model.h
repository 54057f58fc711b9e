// Protobuf messages from files and memory. What is large in a model stays in the file: the message is read
// without it (skeleton.h), and tensors become views of the mapped bytes.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <unordered_map>

#include "file/proto.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::onnx {

// Raw data that was left where it is.
struct StoredBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
using StoredTensors = std::unordered_map<const pb::TensorProto*, StoredBytes>;

struct ModelMessage {
  pb::ModelProto message;
  StoredTensors stored;  // initializers of `message` whose raw_data is there, but empty
};

// MRV0101 when the bytes do not parse, MRV0005 when they are more than protobuf takes.
Status parse_message(std::string_view bytes, google::protobuf::MessageLite& message);
Status parse_model(const std::shared_ptr<const MappedFile>& file, ModelMessage& model);
Status parse_model(std::shared_ptr<const std::string> bytes, ModelMessage& model);

}  // namespace mrvlc::onnx
