// What `mrvlc quantize` and `compile --precision int8` have in common.
#pragma once
#include "accuracy/model_and_samples.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

struct QuantizedGraph {
  onnx::Model model;           // its graph is simplified, and one of integers now
  ir::Graph floats;            // the same, simplified alone
  onnx::ImportOptions import;  // with which it was read
  std::vector<std::vector<Tensor>> samples;
  quantize::Report report;
};

// nullopt: `diagnostics` say why. `was_read`: before the work, which may take minutes.
Result<std::optional<QuantizedGraph>> quantize_graph(
    const QuantizeOptions& options, Diagnostics& diagnostics,
    const std::function<void(const onnx::Model&)>& was_read = nullptr);

}  // namespace mrvlc::driver
