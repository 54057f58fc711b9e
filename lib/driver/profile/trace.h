// A trace in the Trace Event format (JSON), which Perfetto and chrome://tracing open.
#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "mrvlc/report/report.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// What an instruction belongs to; any bytes.
using BarLabel = std::function<std::string_view(uint32_t region, const report::Bar& bar)>;

// Of regions with their bars. pid = region, tid = tile and queue; one cycle is written as one nanosecond
// (times are in microseconds). Written bar by bar: the text of a trace is many times the size of these.
Status write_trace(const std::filesystem::path& file, const std::vector<report::Region>& regions,
                   const BarLabel& label);

}  // namespace mrvlc::driver
