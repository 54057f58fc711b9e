// The accelerator of lib/accel, its instruction set and its simulator, behind the interface.
#pragma once
#include "mrvlc/backends/open.h"
#include "mrvlc/sim/simulator.h"

namespace mrvlc::backends {

// MRV0004 for settings that the machine does not take.
Result<Opened> open_cn10ka(target::Machine machine, const Settings& settings);

Result<std::string> cn10ka_disassembly(std::string_view binary,
                                       const std::vector<backend::CodeRange>& ranges);
// cn10ka_timing.cpp. What the simulator counted, as reports take it.
std::unique_ptr<backend::Timing> timing_of(sim::Report run, uint64_t pessimistic, uint32_t tiles,
                                           const target::Machine& machine);
Result<std::unique_ptr<backend::Timing>> cn10ka_timing(std::string_view binary,
                                                       const target::Machine& machine);

}  // namespace mrvlc::backends
