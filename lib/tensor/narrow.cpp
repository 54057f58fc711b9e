// The layouts of the float8, float4 and F8E8M0 codes, rounding to them and back, and packed bits unpacked.
#include "mrvlc/tensor/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mrvlc {
namespace {

// Bits of mantissa, bias, sign, top, past, NaN.
constexpr NarrowFormat kE4M3FN{3, 7, 0x80, 0x7e, 0x7f, 0x7f};
constexpr NarrowFormat kE4M3FNUZ{3, 8, 0x80, 0x7f, 0x80, 0x80};
constexpr NarrowFormat kE5M2{2, 15, 0x80, 0x7b, 0x7c, 0x7e};
constexpr NarrowFormat kE5M2FNUZ{2, 16, 0x80, 0x7f, 0x80, 0x80};
constexpr NarrowFormat kE2M1{1, 1, 0x08, 0x07, 0x07, 0x08};  // a NaN becomes its negative zero

constexpr int kScaleBias = 127;
constexpr uint8_t kScaleTop = 0xfe, kScaleNan = 0xff;

uint8_t to_scale(double magnitude, bool saturate, ScaleRounding rounding) {
  if (std::isnan(magnitude) || std::isinf(magnitude)) return kScaleNan;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
  if (magnitude == 0 || exponent - 1 < -kScaleBias) return 0;
  bool up =
      rounding == ScaleRounding::Nearest ? fraction >= 0.75 : rounding == ScaleRounding::Up && fraction > 0.5;
  int code = exponent - 1 + kScaleBias + (up ? 1 : 0);
  if (code <= kScaleTop) return static_cast<uint8_t>(code);
  return saturate ? kScaleTop : kScaleNan;
}

bool is_nan_code(unsigned code, const NarrowFormat& f) {
  if (f.nan == f.sign) return f.sign == 0x80 && code == f.nan;  // FNUZ, but not F4E2M1
  return (code & ~f.sign) > (f.past == f.nan ? f.top : f.past);
}

}  // namespace

bool is_narrow_float(ElementType type) {
  return (type >= ElementType::F8E4M3FN && type <= ElementType::F8E5M2FNUZ) || type == ElementType::F8E8M0 ||
         type == ElementType::F4E2M1;
}

bool is_narrow_integer(ElementType type) {
  return type == ElementType::U4 || type == ElementType::I4 || type == ElementType::U2 ||
         type == ElementType::I2;
}

int bit_size(ElementType type) {
  switch (type) {
    case ElementType::U4:
    case ElementType::I4:
    case ElementType::F4E2M1:
      return 4;
    case ElementType::U2:
    case ElementType::I2:
      return 2;
    default:
      return static_cast<int>(byte_size(type)) * 8;
  }
}

const NarrowFormat& narrow_format(ElementType type) {
  switch (type) {
    case ElementType::F8E4M3FN:
      return kE4M3FN;
    case ElementType::F8E4M3FNUZ:
      return kE4M3FNUZ;
    case ElementType::F8E5M2:
      return kE5M2;
    case ElementType::F8E5M2FNUZ:
      return kE5M2FNUZ;
    default:
      return kE2M1;
  }
}

double narrow_to_double(uint8_t code, ElementType type) {
  if (type == ElementType::F8E8M0) {
    return code == kScaleNan ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - kScaleBias);
  }
  const NarrowFormat& f = narrow_format(type);
  const unsigned magnitude = code & (f.sign - 1);
  double value = std::numeric_limits<double>::quiet_NaN();
  if (f.past != f.nan && magnitude == f.past && f.past != f.top) {
    value = std::numeric_limits<double>::infinity();
  } else if (!is_nan_code(code, f)) {
    const int field = static_cast<int>(magnitude >> f.mantissa);
    const int low = static_cast<int>(magnitude & ((1u << f.mantissa) - 1));
    const int significand = field == 0 ? low : low + (1 << f.mantissa);
    value = std::ldexp(significand, (field == 0 ? 1 : field) - f.bias - f.mantissa);
  }
  return (code & f.sign) != 0 ? -value : value;
}

uint8_t double_to_narrow(double value, ElementType type, bool saturate, ScaleRounding rounding) {
  const double magnitude = std::fabs(value);
  if (type == ElementType::F8E8M0) return to_scale(magnitude, saturate, rounding);
  const NarrowFormat& f = narrow_format(type);
  const unsigned sign = std::signbit(value) ? f.sign : 0;
  if (std::isnan(value)) return static_cast<uint8_t>(f.nan == f.sign ? f.nan : f.nan | sign);
  unsigned code = f.top + 1;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Exponents count from that of the subnormals, whose codes are their significands; a significand that
  // rounds up to the next power of two carries into the exponent field by itself.
  const int step = magnitude == 0 ? 0 : std::max(exponent - 2 + f.bias, 0);
  if (std::isfinite(magnitude) && step < 64) {
    const double significand = std::nearbyint(std::ldexp(magnitude, f.mantissa + f.bias - 1 - step));
    code = static_cast<unsigned>(step << f.mantissa) + static_cast<unsigned>(significand);
  }
  if (code > f.top) code = saturate ? f.top : f.past;
  if (f.nan == 0x80 && (code & 0x7f) == 0) return static_cast<uint8_t>(code);  // no negative zero
  return static_cast<uint8_t>(code | sign);
}

int64_t wrap_narrow(int64_t value, ElementType type) {
  const int64_t size = int64_t{1} << bit_size(type), low = value & (size - 1);
  const bool is_signed = type == ElementType::I4 || type == ElementType::I2;
  return is_signed && low >= size / 2 ? low - size : low;
}

std::optional<std::string> unpack_narrow(std::string_view packed, int64_t count, ElementType type) {
  const int bits = bit_size(type), in_byte = 8 / bits;
  if (static_cast<int64_t>(packed.size()) != count / in_byte + (count % in_byte != 0 ? 1 : 0))
    return std::nullopt;
  std::string out(static_cast<size_t>(count), '\0');
  for (size_t i = 0; i < out.size(); ++i) {
    const auto per = static_cast<size_t>(in_byte);
    const int shift = static_cast<int>(i % per) * bits;
    const int code = static_cast<unsigned char>(packed[i / per]) >> shift & ((1 << bits) - 1);
    out[i] = static_cast<char>(is_narrow_integer(type) ? wrap_narrow(code, type) : code);
  }
  return out;
}

}  // namespace mrvlc
