// `compile --precision int8` and `auto` with --data: the model is made one of integers, as `mrvlc quantize`
// does, and what it becomes is compiled in its place (docs/quantization.md).
#pragma once
#include <memory>

#include "accuracy/model_and_samples.h"
#include "inputs/read_files.h"
#include "mrvlc/driver/driver.h"

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

// MRV0004: --precision and --data do not go together, or one asks for the other.
Status check_precision(const CompileOptions& options);

// The model of the compile, and in its place what stands in for it.
std::optional<onnx::Model> import_quantized(const QuantizedModel& quantized, const CompileOptions& options,
                                            Diagnostics& diagnostics);

}  // namespace mrvlc::driver
