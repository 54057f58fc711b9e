// What a tuning is measured with.
#pragma once
#include "inputs/tuning_file.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

// Asks the C compiler; of one on another machine nothing is known. MRV0004: there is no compiler.
Result<TuningMachine> tuning_machine(const RunOptions& run);

}  // namespace mrvlc::driver
