// What a compile knows of its values before anything has run.
#pragma once
#include "mrvlc/calibration/file.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/range/known.h"

namespace mrvlc::driver {

// --input-range as what is proved starts from; values of the graph that calibration data have seen, by name.
// A range that no input takes is left to who reports it (Probe::begin).
range::Knowledge knowledge(const ir::Graph& graph, const CompileOptions& options,
                           const std::optional<calibration::Calibration>& data);

}  // namespace mrvlc::driver
