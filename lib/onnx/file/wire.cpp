// Length-delimited fields out of the bytes of protobuf's unknown fields.
#include "file/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace mrvlc::onnx {

std::vector<std::string> unknown_field(const std::string& unknown_fields, int number) {
  using google::protobuf::internal::WireFormatLite;
  std::vector<std::string> found;
  if (unknown_fields.empty()) return found;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(unknown_fields.data()),
                                            static_cast<int>(unknown_fields.size()));
  while (uint32_t tag = in.ReadTag()) {
    if (tag == (static_cast<uint32_t>(number) << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      uint32_t size = 0;
      std::string value;
      if (!in.ReadVarint32(&size) || !in.ReadString(&value, static_cast<int>(size))) break;
      found.push_back(std::move(value));
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      break;
    }
  }
  return found;
}

std::string unknown_string(const std::string& unknown_fields, int number) {
  auto found = unknown_field(unknown_fields, number);
  return found.empty() ? std::string() : std::move(found.back());
}

}  // namespace mrvlc::onnx
