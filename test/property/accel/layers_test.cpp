#include <catch2/catch.hpp>

#include "check.h"

namespace mrvlc::accel_random {

TEST_CASE("random layers on random machines, bit for bit") {
  run_cases("layers", single_layer, 1, 2000);
}

}  // namespace mrvlc::accel_random
