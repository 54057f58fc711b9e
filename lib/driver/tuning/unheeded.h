// What of a tuning file a compile could not do as it says.
#pragma once
#include "compiled_model.h"
#include "tuning/file.h"

namespace mrvlc::driver {

// MRV0607 of the first layer that is computed otherwise than the file asks; MRV0608 where it knows none;
// MRV0010 where there is nothing to choose.
void warn_unheeded_tuning(const CompileOptions& options, const TuningFile& file, const chost::HostCode& host,
                          Diagnostics& diagnostics);

}  // namespace mrvlc::driver
