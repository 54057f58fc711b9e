// Length-delimited fields out of the bytes of protobuf's unknown fields.
#include "file/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <unordered_set>

#include "file/proto.h"

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

std::vector<std::pair<std::string, std::string>> unknown_properties(const std::string& unknown_fields,
                                                                    int number) {
  std::vector<std::pair<std::string, std::string>> found;
  std::unordered_set<std::string> keys;
  for (const std::string& bytes : unknown_field(unknown_fields, number)) {
    pb::StringStringEntryProto entry;
    if (entry.ParseFromString(bytes) && keys.insert(entry.key()).second)
      found.emplace_back(entry.key(), entry.value());
  }
  return found;
}

std::string without_field(const std::string& unknown_fields, int number) {
  using google::protobuf::internal::WireFormatLite;
  std::string kept;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(unknown_fields.data()),
                                            static_cast<int>(unknown_fields.size()));
  for (size_t begin = 0; const uint32_t tag = in.ReadTag();) {
    if (!WireFormatLite::SkipField(&in, tag)) break;
    const auto end = static_cast<size_t>(in.CurrentPosition());
    if (WireFormatLite::GetTagFieldNumber(tag) != number) kept.append(unknown_fields, begin, end - begin);
    begin = end;
  }
  return kept;
}

void add_property(std::string& unknown_fields, int number, const std::string& key, const std::string& value) {
  using google::protobuf::internal::WireFormatLite;
  pb::StringStringEntryProto entry;
  entry.set_key(key);
  entry.set_value(value);
  google::protobuf::io::StringOutputStream stream(&unknown_fields);  // appends
  google::protobuf::io::CodedOutputStream out(&stream);
  WireFormatLite::WriteString(number, entry.SerializeAsString(), &out);
}

}  // namespace mrvlc::onnx
