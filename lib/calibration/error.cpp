// Errors and magnitudes of values.
#include "mrvlc/calibration/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mrvlc::calibration {

double magnitude(const Tensor& tensor) {
  double most = 0;
  if (tensor.type().wrapper != Wrapper::None || !is_float(tensor.elem())) return most;
  if (tensor.elem() == ElementType::F32) {
    float largest = 0;
    constexpr float kFinite = std::numeric_limits<float>::max();
    for (float v : tensor.data<float>()) {
      const float a = std::abs(v);
      largest = a > largest && a <= kFinite ? a : largest;  // no branch
    }
    return static_cast<double>(largest);
  }
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (const double v = tensor.as_double(i); std::isfinite(v)) most = std::max(most, std::abs(v));
  return most;
}

double float_error(const Tensor& actual, const Tensor& expected) {
  if (actual.shape() != expected.shape()) return INFINITY;
  double error = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = actual.as_double(i), b = expected.as_double(i);
    if (!std::isfinite(b)) continue;
    error = std::max(error, std::isfinite(a) ? std::abs(a - b) / (1 + std::abs(b)) : INFINITY);
  }
  return error;
}

double difference(const Tensor& actual, const Tensor& expected) {
  if (actual.shape() != expected.shape()) return INFINITY;
  double most = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = actual.as_double(i), b = expected.as_double(i);
    if (std::isfinite(a) && std::isfinite(b)) most = std::max(most, std::abs(a - b));
  }
  return most;
}

}  // namespace mrvlc::calibration
