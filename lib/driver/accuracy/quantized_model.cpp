// --precision int8 and auto: the quantiser, samples for the probe, the import of what it made.
#include "accuracy/quantized_model.h"

#include <algorithm>

#include "accuracy/quantize_graph.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/onnx/exporter.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/mapped_file.h"

namespace mrvlc::driver {
Status check_precision(const CompileOptions& options) {
  if (options.precision == "int8" && options.data.empty())
    return make_diag<DiagCode::MRV0004>(
        "--precision int8 takes samples of the model's inputs: --data DIR of 'mrvlc compile'");
  if (!options.data.empty() && options.precision == "fp16" && !options.calibration.empty())
    return make_diag<DiagCode::MRV0004>("--data and --calibration are two sets of samples: give one");
  return {};
}

std::optional<onnx::Model> import_quantized(const QuantizedModel& quantized, const CompileOptions& options,
                                            Diagnostics& diagnostics) {
  if (quantized.bytes.empty()) {
    onnx::ImportOptions import = quantized.import;
    import.hash = false;
    return onnx::import_file(options.model, import, diagnostics);
  }
  // Shapes are in it.
  onnx::ImportOptions import;
  import.hash = false;
  auto model = onnx::import_bytes(quantized.bytes, {}, import, diagnostics);
  if (model) model->files = quantized.files;
  return model;
}

}  // namespace mrvlc::driver
