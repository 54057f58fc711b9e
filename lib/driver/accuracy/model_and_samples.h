// A model and samples of its inputs, as `mrvlc calibrate` and `mrvlc quantize` take them.
#pragma once
#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::driver {

struct ModelAndSamples {
  onnx::Model model;
  std::vector<DataSet> sets;   // inputs of the model's types where their names say so
  std::vector<DataSet> more;   // the same, of the second folder
  onnx::ImportOptions import;  // with the shapes of the data
};

// Shapes that the model leaves open are those of the data. `more`: a second folder, or empty. nullopt:
// `diagnostics` say why.
Result<std::optional<ModelAndSamples>> read_model_and_samples(const CompileOptions& options,
                                                              const std::filesystem::path& data,
                                                              Diagnostics& diagnostics,
                                                              const std::filesystem::path& more = {});
// MRV0002 where writing `out` would replace what is read.
Status check_apart(const std::filesystem::path& out, const std::filesystem::path& model,
                   const std::filesystem::path& data);
// The error of a run on a sample.
Diag at_sample(Diag diag, const DataSet& set);
// All or nothing, a signal while writing included.
Status write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace mrvlc::driver
