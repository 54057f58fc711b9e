// C types and literals of element types.
#include <cmath>
#include <limits>

#include "mrvlc/ops/emit.h"
#include "mrvlc/tensor/float16.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::ops {
namespace {

std::string float_literal(double value, std::string_view suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  // Hexadecimal keeps every bit; negative ones in parentheses so that they stay primary expressions.
  std::string text = fmt::format("{:a}{}", std::fabs(value), suffix);
  return std::signbit(value) ? "(-" + text + ")" : text;
}

std::string unsigned_literal(uint64_t value, ElementType elem) {
  switch (elem) {
    case ElementType::U64:
      return fmt::format("UINT64_C({})", value);
    case ElementType::U32:
      return fmt::format("UINT32_C({})", value & 0xffffffffu);
    case ElementType::U8:
    case ElementType::Bool:
      return fmt::format("{}", value & 0xffu);
    default:
      return fmt::format("{}", value & 0xffffu);
  }
}

// The most negative value has no literal of its own type.
std::string signed_literal(int64_t value, int64_t lowest, std::string_view macro) {
  if (value == lowest) return fmt::format("(-{0}({1}) - 1)", macro, -(lowest + 1));
  return value < 0 ? fmt::format("(-{}({}))", macro, -value) : fmt::format("{}({})", macro, value);
}

}  // namespace

std::string_view c_type(ElementType elem) {
  switch (elem) {
    case ElementType::F32:
      return "float";
    case ElementType::F64:
      return "double";
    case ElementType::I8:
    case ElementType::I4:
    case ElementType::I2:
      return "int8_t";
    case ElementType::I16:
      return "int16_t";
    case ElementType::I32:
      return "int32_t";
    case ElementType::I64:
      return "int64_t";
    case ElementType::String:
      return "mrvl_string";
    case ElementType::U8:
    case ElementType::Bool:
      return "uint8_t";
    case ElementType::U16:
    case ElementType::F16:
    case ElementType::BF16:
      return "uint16_t";
    case ElementType::U32:
      return "uint32_t";
    case ElementType::U64:
      return "uint64_t";
    default:
      if (is_narrow_float(elem) || is_narrow_integer(elem)) return "uint8_t";
      return "void";
  }
}

std::string c_literal(double value, ElementType elem) {
  switch (elem) {
    case ElementType::F32:
      return float_literal(static_cast<double>(static_cast<float>(value)), "f");
    case ElementType::F64:
      return float_literal(value, "");
    case ElementType::F16:
      return fmt::format("{}", double_to_half(value));
    case ElementType::BF16:
      return fmt::format("{}", float_to_bfloat(static_cast<float>(value)));
    default: {
      if (is_narrow_float(elem)) return fmt::format("{}", double_to_narrow(value, elem));
      Tensor converted(TensorType{ElementType::I64, {}});
      converted.set_double(0, value);
      return c_literal(converted.as_int(0), elem);
    }
  }
}

std::string c_literal(int64_t value, ElementType elem) {
  if (is_float(elem) || is_narrow_float(elem)) return c_literal(static_cast<double>(value), elem);
  if (is_narrow_integer(elem)) return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
  switch (elem) {
    case ElementType::Bool:
      return value != 0 ? "1" : "0";
    case ElementType::I64:
      return signed_literal(value, INT64_MIN, "INT64_C");
    case ElementType::I32:
      return signed_literal(static_cast<int32_t>(value), INT32_MIN, "INT32_C");
    case ElementType::I16:
      value = static_cast<int16_t>(value);
      break;
    case ElementType::I8:
      value = static_cast<int8_t>(value);
      break;
    default:
      return unsigned_literal(static_cast<uint64_t>(value), elem);
  }
  return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

}  // namespace mrvlc::ops
