// Fewer things to draw, when there are very many: report.html stays of a size that browsers open.
#pragma once
#include "mrvlc/report/report.h"

namespace mrvlc::report {

// Bars by queue (tile * kQueues + queue), each in order of start.
using Lanes = std::vector<std::vector<Bar>>;
Lanes lanes_of(const Region& region);
size_t bar_count(const Lanes& lanes);

// Merges bars of a queue that follow each other into spans of at most T cycles, with the smallest power of
// two for T that leaves at most `limit` bars (or one bar for each queue). The longest bar of a span gives its
// layer. Returns T, 0 when nothing was to do.
uint64_t merge_bars(Lanes& lanes, size_t limit);

// The same for stretches of the critical path.
uint64_t merge_path(std::vector<Stretch>& path, size_t limit);

// Keeps the uses that hold most bytes for longest, in their order. Returns how many are gone.
size_t drop_memory(std::vector<MemoryUse>& uses, size_t limit);

}  // namespace mrvlc::report
