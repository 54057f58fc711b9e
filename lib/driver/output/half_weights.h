// What --host-weights fp16 did to the weights of the host, for reports and messages.
#pragma once
#include "model/compiled_model.h"
#include "model/report.h"

namespace mrvlc::driver {

// MRV0609; MRV0610 for each tensor that stays fp32; MRV0010 where there is none.
void tell_half_weights(const CompiledModel& m, const CompileOptions& options, Diagnostics& diagnostics);
ReportedHalfWeights reported_half_weights(const CompiledModel& m);

}  // namespace mrvlc::driver
