// The inputs of `mrvlc verify` when there are no data, with what the reference interpreter makes of them.
#pragma once
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

// Those that VerifyOptions asks for, in a fixed order. Sets that the interpreter refuses are left out, and
// said (MRV0715), as are those beyond the budget (MRV0716); an error when it refuses the first. `graph`: the
// model as imported.
Result<std::vector<DataSet>> made_inputs(const ir::Graph& graph, const VerifyOptions& options,
                                         Diagnostics& diagnostics);

}  // namespace mrvlc::driver
