// IEEE 754 binary16 and bfloat16 by their bits. Narrowing rounds to nearest even, overflows to infinity,
// keeps NaN a NaN.
#pragma once
#include <bit>
#include <cstdint>

namespace mrvlc {

inline float half_to_float(uint16_t h) {
  uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t exp = (h >> 10) & 0x1fu, man = h & 0x3ffu;
  if (exp == 31) return std::bit_cast<float>(sign | 0x7f800000u | man << 13);
  if (exp != 0) return std::bit_cast<float>(sign | (exp + 112) << 23 | man << 13);
  // Subnormal: man * 2^-24, exact in float.
  float magnitude = static_cast<float>(man) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

inline uint16_t float_to_half(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  uint32_t mag = bits & 0x7fffffffu;
  if (mag > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (mag >> 13 & 0x3ffu));
  if (mag >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // >= 65520 rounds to infinity
  if (mag < 0x38800000u) {  // below 2^-14: adding 0.5 aligns the mantissa so that the FPU rounds to a
                            // multiple of 2^-24
    float aligned = std::bit_cast<float>(mag) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000u));
  }
  uint32_t odd = mag >> 13 & 1u;
  return static_cast<uint16_t>(sign | ((mag - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float bfloat_to_float(uint16_t b) {
  return std::bit_cast<float>(static_cast<uint32_t>(b) << 16);
}

inline uint16_t float_to_bfloat(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// One step of rounding: a double first rounded to float would round twice.
inline uint16_t double_to_half(double d) {
  auto f = static_cast<float>(d);
  double back = static_cast<double>(f);
  // Round to odd: if the float is inexact, force its last bit so that the second rounding sees the sticky
  // bit.
  if (back != d && d == d) {
    uint32_t bits = std::bit_cast<uint32_t>(f);
    bool away = (d > 0) == (back > d);
    if (away && (bits & 0x7fffffffu) != 0) bits -= 1;
    f = std::bit_cast<float>(bits | 1u);
  }
  return float_to_half(f);
}

}  // namespace mrvlc
