// Protobuf messages from files and memory. The file is parsed as it is read, so its bytes and the message are
// never both in memory.
#pragma once
#include <filesystem>
#include <string>

#include "mrvlc/support/result.h"
#include "proto.h"

namespace mrvlc::onnx {

// Reads a message and the SHA-256 of the file. MRV0001, MRV0003, MRV0005 for the file; MRV0101 when it does
// not parse.
Status read_message(const std::filesystem::path& path, uint64_t max_bytes,
                    google::protobuf::MessageLite& message, std::string& sha256);
Status parse_message(std::string_view bytes, google::protobuf::MessageLite& message);

}  // namespace mrvlc::onnx
