// A trace in the Trace Event format (JSON), which Perfetto and chrome://tracing open.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "mrvlc/report/report.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// What an instruction belongs to; any bytes.
using BarLabel = std::function<std::string_view(uint32_t region, const report::Bar& bar)>;

// The program in order: what the host does, by estimate, and regions.
struct TraceStep {
  struct Slice {
    std::string name;
    uint64_t cycles = 0;  // of the accelerator's clock, which is that of the trace
  };
  std::vector<Slice> before, after;  // the host's, around the region
  std::optional<size_t> region;      // index into the regions
};

// Of regions with their bars, and with what holds their memory. pid = region, tid = tile and queue, the host
// behind them; one cycle is written as one nanosecond (times are in microseconds). Without steps every region
// begins at 0. Written bar by bar: the text of a trace is many times the size of these.
Status write_trace(const std::filesystem::path& file, const std::vector<report::Region>& regions,
                   const BarLabel& label, const std::vector<TraceStep>& steps = {});

}  // namespace mrvlc::driver
