// Element types, with the names the textual IR uses and ONNX's TensorProto numbering (onnx.proto,
// TensorProto.DataType).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mrvlc {

enum class ElementType : uint8_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,
  C128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};

std::string_view name(ElementType type);  // "f32", "i64", "bool", ...
std::optional<ElementType> element_type_from_name(std::string_view name);
std::optional<ElementType> element_type_from_onnx(int32_t data_type);  // nullopt: unknown or not supported

// Bytes of one element in memory; 0 for String and Undefined. Types of less than eight bits have a byte an
// element: the bits of F4E2M1, the value of the integers (sign-extended).
int64_t byte_size(ElementType type);
bool is_float(ElementType type);    // F16, BF16, F32, F64
bool is_integer(ElementType type);  // signed and unsigned, not Bool
bool is_signed_integer(ElementType type);
// Integers of 8 bits, not Bool.
constexpr bool is_byte(ElementType type) {
  return type == ElementType::I8 || type == ElementType::U8;
}

}  // namespace mrvlc
