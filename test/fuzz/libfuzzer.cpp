// One executable a target: MRVLC_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* target = mrvlc::fuzz::find_target(MRVLC_FUZZ_TARGET);
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
