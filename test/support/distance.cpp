#include "distance.h"

#include <cmath>
#include <limits>

namespace mrvlc::test {

double distance(const Tensor& actual, const Tensor& expected) {
  if (actual.type() != expected.type()) return std::numeric_limits<double>::infinity();
  double most = 1e-3, difference = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    most = std::max(most, std::fabs(expected.as_double(i)));
    double d = std::fabs(actual.as_double(i) - expected.as_double(i));
    difference = d <= difference ? difference : d;  // keeps a NaN
  }
  return difference / most;
}

}  // namespace mrvlc::test
