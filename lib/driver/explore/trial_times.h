// What a network takes, as it is while it is being quantised: exported, compiled and timed.
#pragma once
#include "mrvlc/driver/options.h"
#include "mrvlc/quantize/quantize.h"

namespace mrvlc::driver {

// In cycles of the accelerator (nanoseconds, where there is none), what the host computes and converts by its
// model and launches included: report.json's partition.seconds. `options` are those of the compile;
// `stand_in` has the files of the model.
Result<quantize::Times> trial_times(const ir::Graph& graph, const CompileOptions& options,
                                    const QuantizedModel& stand_in);

}  // namespace mrvlc::driver
