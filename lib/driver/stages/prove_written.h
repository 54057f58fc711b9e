// --prove: binaries are proved before OUT appears.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {

// Writes certificate.json. MRV1103 where a binary is refused; what has no proof is MRV1106. Nothing without
// --prove.
Status prove_written(const CompiledModel& m, OutputDir& out, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
