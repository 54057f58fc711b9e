// The format's descriptions of types: https://numpy.org/doc/stable/reference/arrays.interface.html
#include "naming/numpy_type.h"

namespace mrvlc::chost {

std::string_view numpy_type(const TensorType& type) {
  if (type.wrapper != Wrapper::None || type.elem == ElementType::String) return {};
  switch (type.elem) {
    case ElementType::F32:
      return "<f4";
    case ElementType::F64:
      return "<f8";
    case ElementType::F16:
      return "<f2";
    case ElementType::I8:
    case ElementType::I4:
    case ElementType::I2:
      return "|i1";
    case ElementType::I16:
      return "<i2";
    case ElementType::I32:
      return "<i4";
    case ElementType::I64:
      return "<i8";
    case ElementType::U16:
    case ElementType::BF16:
      return "<u2";
    case ElementType::U32:
      return "<u4";
    case ElementType::U64:
      return "<u8";
    case ElementType::Bool:
      return "|b1";
    default:
      return "|u1";
  }
}

}  // namespace mrvlc::chost
