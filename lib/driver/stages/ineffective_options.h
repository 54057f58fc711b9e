// Warnings about what was asked for and does not happen. Each names the cause and the way out.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

// After the import: --batch, --bound and --max-sequence that change nothing. `diagnostics` are those of the
// import. Only options that CompileOptions::given holds are spoken of, here and below.
void warn_ineffective_shapes(const CompileOptions& options, const onnx::Model& model,
                             Diagnostics& diagnostics);
// After placement: options of placement and precision that change nothing, quantised layers in fp16, an
// accelerator that gets nothing, or less than half of the multiply-accumulates, although nobody asked for the
// CPU.
void warn_placement(const PlacedModel& m, partition::Options options, Diagnostics& diagnostics);
// When all code is there: options of the accelerator where none is used, and of texts where none are made.
void warn_ineffective_options(const CompileOptions& options, const CompiledModel& m,
                              Diagnostics& diagnostics);
// MRV1072 for members of the file of --placement that were changed in vain.
void warn_unread(const CompiledModel& m, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
