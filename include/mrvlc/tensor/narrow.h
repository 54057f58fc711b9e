// Element types of eight bits and less that are not the ordinary integers: ONNX's float8 and float4 formats
// (OCP's and their FNUZ variants), the scale format F8E8M0, and integers of four and two bits. Each element
// has a byte in memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mrvlc/tensor/element_type.h"

namespace mrvlc {

bool is_narrow_float(ElementType type);    // float8, F8E8M0, F4E2M1
bool is_narrow_integer(ElementType type);  // U4, I4, U2, I2
// Bits of one element in ONNX's files; 8 * byte_size for all but the types of less than eight bits.
int bit_size(ElementType type);

// A format of sign, exponent and mantissa, described by codes without sign.
struct NarrowFormat {
  int mantissa = 0, bias = 0;  // bits; the exponent field of 1.0
  unsigned sign = 0x80;        // the bit
  unsigned top = 0;            // greatest finite value
  unsigned past = 0;           // what greater ones become when they do not saturate: infinity or NaN
  unsigned nan = 0;            // 0x80, FNUZ: the code of a negative zero, which these lack
};
// Not of F8E8M0.
const NarrowFormat& narrow_format(ElementType type);

// Rounding to F8E8M0 (ONNX Cast-24): away from zero, towards it, to nearest with ties up.
enum class ScaleRounding : uint8_t { Up, Down, Nearest };

// Of narrow floats. Rounds to nearest even; what is past the greatest finite value, infinities included,
// becomes that value when it saturates (F4E2M1 always does). F8E8M0 keeps the magnitude alone; zero becomes
// its least value, infinities become NaN.
double narrow_to_double(uint8_t code, ElementType type);
uint8_t double_to_narrow(double value, ElementType type, bool saturate = true,
                         ScaleRounding rounding = ScaleRounding::Up);
// The value of a narrow integer that has the same low bits.
int64_t wrap_narrow(int64_t value, ElementType type);

// Elements of less than eight bits as ONNX packs them, the first in the lowest bits, to a byte an element.
// nullopt: there are not as many bytes as `count` elements take.
std::optional<std::string> unpack_narrow(std::string_view packed, int64_t count, ElementType type);

}  // namespace mrvlc
