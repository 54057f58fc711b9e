// `compile --data DIR` of a network that stays in floats: what values are on the samples, and the samples, as
// a calibration file of them would say it.
#pragma once
#include "accuracy/model_and_samples.h"
#include "inputs/read_files.h"
#include "mrvlc/calibration/file.h"

namespace mrvlc::driver {

// Whether the options ask for it.
bool compiles_with_data(const CompileOptions& options);

// Every file of the folder, by its path there.
Result<std::vector<ReadFile>> files_of_data(const std::filesystem::path& folder);
// Reads the samples; shapes that the model leaves open become those of the data in `import`.
Result<std::vector<DataSet>> read_compile_data(const CompileOptions& options, onnx::ImportOptions& import,
                                               Diagnostics& diagnostics);
// Of samples that are spread evenly: as many as are looked at. Errors: what the model does not take.
Result<calibration::Calibration> calibration_of(const onnx::Model& model, std::vector<DataSet> sets);

}  // namespace mrvlc::driver
