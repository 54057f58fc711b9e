// Integers that stand for real numbers: x = (q - zero) * scale, as ONNX's DequantizeLinear has it.
#pragma once
#include "mrvlc/ops/quantized.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::quantize {

struct Affine {
  float scale = 1;
  int64_t zero = 0;
  ElementType type = ElementType::I8;
};

// Zero is always among the numbers, so that padding and ReLU are exact.
Affine affine_for(double low, double high, ElementType type);
// The numbers that are there in place of the tensor's; NaN becomes the least.
void round_to(const Affine& affine, Tensor& tensor);
inline double rounded(const Affine& a, double x) {
  const int64_t q = ops::quantized(static_cast<float>(x), a.scale, a.zero, ops::range_of(a.type));
  return static_cast<double>(static_cast<float>(q - a.zero) * a.scale);
}

}  // namespace mrvlc::quantize
