// What is checked of a binary before it runs.
#pragma once
#include "mrvlc/isa/container.h"
#include "mrvlc/support/result.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::sim {

// Everything execution relies on: tiles, addresses, sizes, accumulators, waits that can be met, and bounds on
// the work of one instruction so that a small file cannot ask for years.
Status validate(const isa::Binary& binary, const target::Machine& machine);

}  // namespace mrvlc::sim
