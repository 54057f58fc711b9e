// The hashes of the model's files, which are computed beside the compile.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

// Waits for them.
Status take_hashes(ImportedModel& m);

}  // namespace mrvlc::driver
