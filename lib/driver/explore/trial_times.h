// What a network takes, as it is while it is being quantised: exported, compiled and timed.
#pragma once
#include "mrvlc/driver/options.h"
#include "mrvlc/quantize/quantize.h"
#include "stages/stages.h"

namespace mrvlc::driver {

// What a run is expected to take, in seconds: accelerators, launches, borders, and the host by its model.
// Nodes of control flow count as if their bodies ran on the host.
double expected_seconds(const ProbedModel& m);

// In cycles of the accelerator (nanoseconds, where there is none), what the host computes and converts by its
// model and launches included: report.json's partition.seconds. `options` are those of the compile;
// `stand_in` has the files of the model.
Result<quantize::Times> trial_times(const ir::Graph& graph, const CompileOptions& options,
                                    const QuantizedModel& stand_in);

}  // namespace mrvlc::driver
