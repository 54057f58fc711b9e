// Counters of a trace: steps of a value over time.
#pragma once
#include <cstdint>
#include <vector>

#include "mrvlc/report/report.h"

namespace mrvlc::driver {

struct CounterStep {
  uint64_t at = 0;  // cycle
  uint64_t value = 0;
};

// Bytes that move over DDR, reads (queue 0) or writes (queue 1), in windows of `window` cycles.
std::vector<CounterStep> ddr_bytes(const report::Region& region, uint8_t queue, uint64_t window);
// Bytes of a tile's memory that are held at once; what several hold counts once.
std::vector<CounterStep> held_bytes(const report::Region& region, uint32_t tile);

}  // namespace mrvlc::driver
