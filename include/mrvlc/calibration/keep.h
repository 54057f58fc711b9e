// Which samples a calibration file keeps, whole: a compile is judged on these (docs/calibration.md).
#pragma once
#include "mrvlc/calibration/sensitivity.h"

namespace mrvlc::calibration {

struct KeepOptions {
  size_t most = 8;                                  // samples
  size_t max_characters = size_t{32} << 20;         // that they take in the file, together
  int64_t budget = 0;                               // of finding out which, in units of `of_node`
  std::function<int64_t(const ir::Node&)> of_node;  // what the interpreter takes for it
  SensitivityOptions limits;
};

// Those whose outputs move most when every float32 value and constant is rounded to fp16, the worst first;
// where the budget does not allow to look at all of them, of some that are spread evenly; where nothing can
// be known (no outputs of floats, no budget, too much memory), evenly spread ones. Empty: inputs are no plain
// numbers. Errors: those of the interpreter.
Result<std::vector<KeptSample>> keep_samples(const ir::Graph& graph,
                                             const std::vector<std::vector<Tensor>>& samples,
                                             const KeepOptions& options);

// The first `most` of what was kept, as inputs of this graph. Empty where the graph's inputs are not those of
// the data: other shapes, say.
std::vector<std::vector<Tensor>> kept_inputs(const ir::Graph& graph, const Calibration& calibration,
                                             size_t most = SIZE_MAX);

}  // namespace mrvlc::calibration
