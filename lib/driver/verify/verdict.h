// How comparisons stand in JSON.
#pragma once
#include <cmath>

#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

// JSON has no infinities, and no NaN.
inline double json_error(double error) {
  return std::isfinite(error) ? error : 1e300;
}
inline const char* state_of(const Comparison& c) {
  return c.same ? "ok" : c.beyond_fp16 ? "fp16" : "differs";
}

}  // namespace mrvlc::driver
