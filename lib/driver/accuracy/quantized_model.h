// `compile --precision int8` and `auto` with --data: the model is made one of integers, as `mrvlc quantize`
// does, and what it becomes is compiled in its place (docs/quantization.md).
#pragma once
#include <memory>

#include "accuracy/model_and_samples.h"
#include "mrvlc/driver/driver.h"
#include "read_files.h"

namespace mrvlc::driver {

// What stands in for the model of a compile.
struct QuantizedModel {
  std::string bytes;           // ONNX; empty: all layers stay in floats, the model is compiled as it is
  onnx::ImportOptions import;  // of the model: shapes are those of the data
  std::vector<onnx::ModelFile> files;
  quantize::Report report;
  // For the probe: some of the samples, and what the model in floats makes of them.
  std::vector<std::vector<Tensor>> inputs, expected;
  std::vector<ReadFile> data;  // files of --data
};

// Whether the options ask for it. MRV0004: they do, and leave something out.
bool quantizes(const CompileOptions& options);
Status check_precision(const CompileOptions& options);

// nullptr: `diagnostics` say why. `half`: floats are fp16 on the target.
std::shared_ptr<const QuantizedModel> quantized_model(const CompileOptions& options, bool half,
                                                      Diagnostics& diagnostics);

// The model of the compile, and in its place what stands in for it.
std::optional<onnx::Model> import_quantized(const QuantizedModel& quantized, const CompileOptions& options,
                                            Diagnostics& diagnostics);

}  // namespace mrvlc::driver
