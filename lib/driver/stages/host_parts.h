// What the host's code is generated from: options, and regions for the host, too.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

// The nodes of every region as a graph that the host computes, its fp16 widened: for --on-device-error cpu
// and --on-overflow cpu; nothing without these. Before the regions are compiled, which gives back their
// weights.
Result<std::vector<ir::Graph>> host_parts(const PlacedModel& m, const CompileOptions& options);
// Takes m.host_parts.
chost::Options host_options(ProbedModel& m, const CompileOptions& options, chost::Tuning tuning);

}  // namespace mrvlc::driver
