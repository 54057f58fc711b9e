// Rounding to a quantised integer, as QuantizeLinear and DynamicQuantizeLinear do, and functions of one.
#pragma once
#include <cmath>
#include <cstdint>

#include "mrvlc/ir/graph.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::ops {

struct IntRange {
  int64_t low = 0, high = 0;
};

// What an integer of this type can be.
inline IntRange range_of(ElementType elem) {
  const int64_t size = int64_t{1} << bit_size(elem);
  const bool is_signed = elem == ElementType::I4 || elem == ElementType::I2 || is_signed_integer(elem);
  return is_signed ? IntRange{-size / 2, size / 2 - 1} : IntRange{0, size - 1};
}

// saturate(round to even(x / scale) + zero); NaN gives the lowest value.
inline int64_t quantized(float x, float scale, int64_t zero, IntRange r) {
  float v = std::nearbyint(x / scale);
  auto low = static_cast<float>(r.low - zero), high = static_cast<float>(r.high - zero);
  if (!(v > low)) return r.low;
  return v > high ? r.high : static_cast<int64_t>(v) + zero;
}

// An element-wise operator of `operand`, whose other operands are constants of one element: as the reference
// computes it, in double, rounded to fp32.
float function_value(const ir::Graph& graph, const ir::Node& node, ir::ValueId operand, float x);

}  // namespace mrvlc::ops
