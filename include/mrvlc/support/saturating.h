// Integer arithmetic that stops at INT64_MAX: for estimates of work, where too much is too much.
#pragma once
#include <cstdint>

#include "mrvlc/support/checked.h"

namespace mrvlc {

// Of non-negative numbers.
inline int64_t saturating_mul(int64_t a, int64_t b) {
  return checked_mul(a, b).value_or(INT64_MAX);
}
inline int64_t saturating_add(int64_t a, int64_t b) {
  return checked_add(a, b).value_or(INT64_MAX);
}

}  // namespace mrvlc
