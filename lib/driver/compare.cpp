#include <cmath>
#include <limits>

#include "mrvlc/driver/driver.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::driver {

double relative_error(const Tensor& actual, const Tensor& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(actual.type() == expected.type())) return kInfinity;
  double worst = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double a = actual.as_double(i), b = expected.as_double(i);
    if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b)) {
      bool same = (std::isnan(a) && std::isnan(b)) || a == b;
      if (!same) return kInfinity;
      continue;
    }
    worst = std::max(worst, std::abs(a - b) / (1 + std::abs(b)));
  }
  return worst;
}

}  // namespace mrvlc::driver
