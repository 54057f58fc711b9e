// ReLU, clip, leaky, hard sigmoid, look-up tables; loads and stores of fp16, fp32 and bytes; overflow flags.
#include "arithmetic.h"

#include <cmath>
#include <cstring>

#include "kernels.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::sim {
namespace {

constexpr uint32_t kFloatNan = 0x7fc00000;

uint16_t narrowed(float v) {
  return v != v ? uint16_t{0x7e00} : float_to_half(v);
}

float clip(float v, float low, float high) {
  v = v < low ? low : v;
  return v > high ? high : v;
}

float look_up(const std::byte* table, float x) {
  float c[2];
  // A segment for every value of the upper eleven bits of the fp16 number.
  std::memcpy(c, table + size_t{narrowed(x)} / 32 * sizeof c, sizeof c);
  // A flat segment stays flat at infinity, where the product would be NaN.
  if (c[1] == 0 && x == x) return c[0];
  return std::fma(c[1], x, c[0]);
}

// The byte of saturate(round_even(v / scale) + zero); NaN gives the lowest number.
std::byte quantized(isa::DataType type, const isa::Quantization& q, float v) {
  const int low = type == isa::DataType::I8 ? -128 : 0, high = low + 255;
  // Compared as floats: as an int what is too large would be undefined, and NaN is greater than nothing.
  const float steps = std::nearbyint(v / q.scale);
  int code = low;
  if (steps > static_cast<float>(low - q.zero))
    code = steps > static_cast<float>(high - q.zero) ? high : static_cast<int>(steps) + q.zero;
  return static_cast<std::byte>(static_cast<unsigned>(code) & 0xffu);
}

template <class F>
void each(float* values, size_t n, F f) {
  for (size_t i = 0; i < n; ++i) values[i] = f(values[i]);
}

}  // namespace

void activate(const isa::Epilogue& e, const std::byte* table, float* values, size_t n) {
  const float alpha = e.alpha, beta = e.beta;
  auto hard = [=](float v) { return clip(std::fma(alpha, v, beta), 0.0f, 1.0f); };
  switch (e.activation) {
    case isa::Activation::None:
      return;
    case isa::Activation::Relu:
      return each(values, n, [](float v) { return v > 0 || v != v ? v : 0.0f; });
    case isa::Activation::Clip:
      return each(values, n, [=](float v) { return clip(v, alpha, beta); });
    case isa::Activation::Leaky:
      return each(values, n, [=](float v) { return v < 0 ? alpha * v : v; });
    case isa::Activation::HardSigmoid:
      return each(values, n, hard);
    case isa::Activation::HardSwish:
      return each(values, n, [=](float v) { return v * hard(v); });
    case isa::Activation::Table:
      return each(values, n, [=](float v) { return look_up(table, v); });
    case isa::Activation::Bytes:
      return;
  }
}

void load(isa::DataType type, const isa::Quantization& q, const std::byte* memory, int64_t stride,
          float* values, size_t n) {
  if (isa::is_integer(type)) {
    for (size_t i = 0; i < n; ++i, memory += stride)
      values[i] = static_cast<float>(integer_at(type, memory) - q.zero) * q.scale;
    return;
  }
  if (type == isa::DataType::F32) {
    for (size_t i = 0; i < n; ++i) std::memcpy(values + i, memory + static_cast<int64_t>(i) * stride, 4);
    return;
  }
  if (stride == 2) return kernels().widen(memory, values, n);
  for (size_t i = 0; i < n; ++i) kernels().widen(memory + static_cast<int64_t>(i) * stride, values + i, 1);
}

void store(const Stored& as, std::byte* memory, int64_t stride, const float* values, size_t n) {
  if (as.type == isa::DataType::F16 && stride == 2) return kernels().narrow(values, memory, n);
  for (size_t i = 0; i < n; ++i, memory += stride) {
    if (isa::is_integer(as.type)) {
      const std::byte code = quantized(as.type, as.quantization, values[i]);
      *memory = as.bytes != nullptr ? as.bytes[std::to_integer<size_t>(code)] : code;
    } else if (as.type == isa::DataType::F32) {
      uint32_t bits = values[i] != values[i] ? kFloatNan : std::bit_cast<uint32_t>(values[i]);
      std::memcpy(memory, &bits, 4);
    } else {
      uint16_t bits = narrowed(values[i]);
      std::memcpy(memory, &bits, 2);
    }
  }
}

bool stored_infinite(isa::DataType type, float value) {
  if (isa::is_integer(type)) return false;
  // 65520 is half-way between the largest fp16 and the next power of two, and is rounded to even: up.
  return type == isa::DataType::F16 ? std::fabs(value) >= 65520.0f : std::isinf(value);
}

bool flag_stored(isa::DataType type, const float* values, size_t n, uint32_t& flags) {
  const float largest = type == isa::DataType::F16 ? 65520.0f : INFINITY;
  bool all_finite = true;
  for (size_t i = 0; i < n; ++i) all_finite &= std::fabs(values[i]) < largest;  // false for NaN
  if (all_finite) return false;
  bool infinite = false;
  for (size_t i = 0; i < n; ++i) {
    if (values[i] != values[i]) raise(Flag::Invalid, flags);
    infinite |= stored_infinite(type, values[i]);
  }
  return infinite;
}

}  // namespace mrvlc::sim
