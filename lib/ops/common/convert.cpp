// Casts in C and in the reference: saturating float to integer, halves, float8, float4, integers of few bits.
#include "common/convert.h"

#include <algorithm>
#include <cmath>

#include "common/bulk.h"

namespace mrvlc::ops {
namespace {

bool is_half(ElementType elem) {
  return elem == ElementType::F16 || elem == ElementType::BF16;
}

// Codes of 256 are none.
std::string narrow_to_float(EmitContext& c, const std::string& x, ElementType from) {
  if (from == ElementType::F8E8M0) return fmt::format("{}({})", c.helper("e8m0_to_f32"), x);
  const NarrowFormat& f = narrow_format(from);
  const bool has_nan = from != ElementType::F4E2M1, has_infinity = has_nan && f.past != f.nan;
  const unsigned nan = !has_nan ? 256 : has_infinity ? f.past + 1 : f.nan;
  return fmt::format("{}({}, {}, {}, {}, {}, {})", c.helper("narrow_to_f32"), x, f.mantissa, f.bias, f.sign,
                     has_infinity ? f.past : 256, nan);
}

std::string float_to_narrow(EmitContext& c, const std::string& x, ElementType to, const CastMode& mode) {
  if (to == ElementType::F8E8M0) {
    constexpr std::string_view kRounding[] = {"0.5", "1.0", "0x1.7ffffffffffffp-1"};  // up past this fraction
    return fmt::format("{}((double){}, {}, {})", c.helper("f64_to_e8m0"), x,
                       kRounding[static_cast<size_t>(mode.rounding)], mode.saturate ? 254 : 255);
  }
  const NarrowFormat& f = narrow_format(to);
  return fmt::format("{}((double){}, {}, {}, {}, {}, {}, {})", c.helper("f64_to_narrow"), x, f.mantissa,
                     f.bias, f.sign, f.top, mode.saturate ? f.top : f.past, f.nan);
}

// The low bits of an integer, signed or not.
std::string low_bits(const std::string& x, ElementType to) {
  const unsigned size = 1u << bit_size(to), half = size / 2;
  if (to == ElementType::U4 || to == ElementType::U2) {
    return fmt::format("(uint8_t)((uint32_t){} & {}u)", x, size - 1);
  }
  return fmt::format("(int8_t)((int)(((uint32_t){} & {}u) ^ {}u) - {})", x, size - 1, half, half);
}

}  // namespace

IntegerRange integer_range(ElementType elem) {
  int bits = static_cast<int>(byte_size(elem)) * 8;
  if (is_signed_integer(elem)) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1)};
  return {0, std::ldexp(1.0, bits)};
}

std::string saturated_text(const std::string& x, ElementType from, ElementType to) {
  IntegerRange range = integer_range(to);
  std::string lowest = c_literal(range.low, to);
  std::string highest =
      c_literal(static_cast<int64_t>(is_signed_integer(to) ? ~uint64_t{0} >> (65 - byte_size(to) * 8)
                                                           : ~uint64_t{0} >> (64 - byte_size(to) * 8)),
                to);
  return fmt::format(
      "({t})({x} >= {past} ? {highest} : {x} <= {low} ? {lowest} : isnan({x}) ? 0 : ({t}){x})",
      fmt::arg("t", c_type(to)), fmt::arg("x", x), fmt::arg("past", c_literal(range.past, from)),
      fmt::arg("low", c_literal(range.low, from)), fmt::arg("highest", highest), fmt::arg("lowest", lowest));
}

ElementType computing_type(ElementType elem) {
  if (is_half(elem) || is_narrow_float(elem)) return ElementType::F32;
  if (elem == ElementType::I4 || elem == ElementType::I2) return ElementType::I8;
  if (elem == ElementType::U4 || elem == ElementType::U2 || elem == ElementType::Bool) return ElementType::U8;
  return elem;
}

std::string decoded_text(EmitContext& c, const std::string& x, ElementType from) {
  if (is_half(from))
    return fmt::format("{}({})", c.helper(from == ElementType::F16 ? "f16_to_f32" : "bf16_to_f32"), x);
  return is_narrow_float(from) ? narrow_to_float(c, x, from) : x;
}

std::string encoded_text(EmitContext& c, const std::string& x, ElementType from, ElementType to,
                         const CastMode& mode) {
  if (to == ElementType::F16) {
    // A double rounded to float first would round twice.
    std::string value =
        from == ElementType::F64 ? fmt::format("{}({})", c.helper("f64_to_odd"), x) : "(float)" + x;
    return fmt::format("{}({})", c.helper("f32_to_f16"), value);
  }
  if (to == ElementType::BF16) return fmt::format("{}((float){})", c.helper("f32_to_bf16"), x);
  if (to == ElementType::Bool) return fmt::format("(uint8_t)({} != 0)", x);
  if (is_narrow_float(to)) return float_to_narrow(c, x, to, mode);
  if (is_narrow_integer(to))
    return low_bits(is_float(from) ? saturated_text(x, from, ElementType::I64) : x, to);
  if (from == to) return x;
  if (is_float(from) && is_integer(to)) return saturated_text(x, from, to);
  return fmt::format("({}){}", c_type(to), x);
}

void convert_element(const Tensor& from, int64_t i, Tensor& to, int64_t k, const CastMode& mode) {
  const bool float_from = is_float(from.elem()) || is_narrow_float(from.elem());
  if (is_narrow_float(to.elem())) {
    to.mutable_data<uint8_t>()[at(k)] =
        double_to_narrow(from.as_double(i), to.elem(), mode.saturate, mode.rounding);
  } else if (float_from && is_integer(to.elem())) {
    const double v = std::clamp(from.as_double(i), extreme_value(to.elem(), false).as_double(0),
                                extreme_value(to.elem(), true).as_double(0));  // NaN stays
    store_run(to, k, 1, 1, &v);
  } else if (float_from) {
    to.set_double(k, from.as_double(i));
  } else {
    to.set_int(k, from.as_int(i));
  }
}

}  // namespace mrvlc::ops
