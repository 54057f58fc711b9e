// What a compile says of the host's code once it is there.
#pragma once
#include "compiled_model.h"
#include "tuning/file.h"

namespace mrvlc::driver {

// What --host-weights and --tuning (its file: `tuning`) come to; MRV0640 for programs whose memory is more
// than anybody may expect of such a model, unless --arena-limit says what the arena may take.
void tell_host(const CompileOptions& options, const TuningFile& tuning, const CompiledModel& m,
               Diagnostics& diagnostics);

}  // namespace mrvlc::driver
