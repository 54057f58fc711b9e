// Fields that came after the schema we compile against. Protobuf keeps them, as bytes.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mrvlc::onnx {

inline constexpr int kNodeOverload = 8;  // NodeProto.overload, IR version 10
// metadata_props, IR version 10; that of ModelProto is as old as the message.
inline constexpr int kNodeMetadata = 9;
inline constexpr int kGraphMetadata = 16;
inline constexpr int kFunctionMetadata = 14;
inline constexpr int kTensorMetadata = 16;
inline constexpr int kValueMetadata = 4;            // ValueInfoProto
inline constexpr int kFunctionAttributeProto = 11;  // FunctionProto.attribute_proto, IR version 9
inline constexpr int kFunctionOverload = 13;        // FunctionProto.overload, IR version 10

// The values of a length-delimited field in a message's unknown fields, in order.
std::vector<std::string> unknown_field(const std::string& unknown_fields, int number);
// The last one, or empty.
std::string unknown_string(const std::string& unknown_fields, int number);
// Keys and values of a field of StringStringEntryProto, in order; of a key that is given twice the first.
std::vector<std::pair<std::string, std::string>> unknown_properties(const std::string& unknown_fields,
                                                                    int number);
// The other fields.
std::string without_field(const std::string& unknown_fields, int number);
// A field of StringStringEntryProto, to stand among unknown fields.
void add_property(std::string& unknown_fields, int number, const std::string& key, const std::string& value);

}  // namespace mrvlc::onnx
