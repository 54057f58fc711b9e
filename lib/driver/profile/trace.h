// A trace in the Trace Event format (JSON), which Perfetto and chrome://tracing open.
#pragma once
#include <filesystem>
#include <functional>
#include <span>

#include "mrvlc/sim/simulator.h"

namespace mrvlc::driver {

struct TracedRegion {
  uint32_t id = 0, tiles = 1;
  const sim::Report* run = nullptr;                          // with events
  std::function<std::string_view(const sim::Event&)> label;  // what the instruction belongs to; any bytes
};

// pid = region, tid = tile and queue; one cycle is written as one nanosecond (times are in microseconds).
// Written event by event: the text of a trace is many times the size of the events.
Status write_trace(const std::filesystem::path& file, std::span<const TracedRegion> regions);

}  // namespace mrvlc::driver
