// Fields that came after the schema we compile against. Protobuf keeps them, as bytes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc::onnx {

inline constexpr int kNodeOverload = 8;             // NodeProto.overload, IR version 10
inline constexpr int kFunctionAttributeProto = 11;  // FunctionProto.attribute_proto, IR version 9
inline constexpr int kFunctionOverload = 13;        // FunctionProto.overload, IR version 10

// The values of a length-delimited field in a message's unknown fields, in order.
std::vector<std::string> unknown_field(const std::string& unknown_fields, int number);
// The last one, or empty.
std::string unknown_string(const std::string& unknown_fields, int number);

}  // namespace mrvlc::onnx
