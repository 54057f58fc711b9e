// The table of element types in ONNX's order: name and bytes; which are floats and which integers.
#include "mrvlc/tensor/element_type.h"

#include <array>

namespace mrvlc {
namespace {

struct Info {
  std::string_view name;
  int64_t bytes;
};
constexpr std::array<Info, 27> kInfo = {
    {{"undefined", 0},  {"f32", 4},    {"u8", 1},         {"i8", 1},    {"u16", 2},  {"i16", 2},
     {"i32", 4},        {"i64", 8},    {"str", 0},        {"bool", 1},  {"f16", 2},  {"f64", 8},
     {"u32", 4},        {"u64", 8},    {"c64", 8},        {"c128", 16}, {"bf16", 2}, {"f8e4m3fn", 1},
     {"f8e4m3fnuz", 1}, {"f8e5m2", 1}, {"f8e5m2fnuz", 1}, {"u4", 1},    {"i4", 1},   {"f4e2m1", 1},
     {"f8e8m0", 1},     {"u2", 1},     {"i2", 1}}};

}  // namespace

std::string_view name(ElementType type) {
  return kInfo[static_cast<size_t>(type)].name;
}

std::optional<ElementType> element_type_from_name(std::string_view text) {
  for (size_t i = 1; i < kInfo.size(); ++i) {
    if (kInfo[i].name == text) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

std::optional<ElementType> element_type_from_onnx(int32_t data_type) {
  if (data_type < 1 || data_type >= static_cast<int32_t>(kInfo.size())) return std::nullopt;
  return static_cast<ElementType>(data_type);
}

int64_t byte_size(ElementType type) {
  return kInfo[static_cast<size_t>(type)].bytes;
}

bool is_float(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F32 ||
         type == ElementType::F64;
}

bool is_signed_integer(ElementType type) {
  return type == ElementType::I8 || type == ElementType::I16 || type == ElementType::I32 ||
         type == ElementType::I64;
}

bool is_integer(ElementType type) {
  return is_signed_integer(type) || type == ElementType::U8 || type == ElementType::U16 ||
         type == ElementType::U32 || type == ElementType::U64;
}

}  // namespace mrvlc
