// What of a tuning file a compile could not do as it says.
#pragma once
#include "inputs/tuning_file.h"
#include "model/compiled_model.h"

namespace mrvlc::driver {

// MRV0607 of the first layer that is computed otherwise than the file asks; MRV0608 where it knows none;
// MRV0010 where there is nothing to choose.
void warn_ineffective_tuning(const CompileOptions& options, const TuningFile& file,
                             const chost::HostCode& host, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
