// Whether fp16 holds a model's values, found by trying: the compiled model runs on drawn inputs
// (device_run.h) beside the same graph in float32. What it costs is counted before; a compile never waits for
// more.
#pragma once
#include <future>

#include "compiled_model.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {

class Probe {
 public:
  // Before code generation, which gives constants back. `data`: null without --calibration. The reference is
  // computed on another thread, unless options.jobs is 1. Errors: those of --input-range.
  static Result<Probe> begin(const CompiledModel& m, const CompileOptions& options,
                             const calibration::Calibration* data);
  // When all binaries are there.
  Accuracy finish(const CompiledModel& m);

  const std::vector<std::vector<Tensor>>& inputs() const { return inputs_; }  // by sample
  // What is compared instead of the model's outputs where these hold no floats; else empty.
  const std::vector<ir::ValueId>& compared() const { return compared_; }

 private:
  struct Reference {
    struct Sample {
      std::vector<Tensor> outputs;
      std::map<ir::ValueId, Tensor> of_regions;
    };
    std::vector<Sample> samples;
    std::map<ir::ValueId, double> magnitudes;  // the largest finite ones
  };
  static Result<Reference> reference(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& inputs,
                                     const std::vector<ir::ValueId>& kept, const interp::Options& room);

  void take_samples(const QuantizedModel& quantized, size_t samples);
  void take_calibration(const calibration::Calibration& data);
  Status compare(const CompiledModel& m, const Reference& expected);
  // What stored values the calibration data or the reference have seen beyond fp16.
  void find_beyond(const Reference* expected);
  void choose_worst();

  Accuracy accuracy_;
  std::vector<std::vector<Tensor>> inputs_;  // by sample
  // Outputs that are known, by sample; else empty: the reference's are compared with.
  std::vector<std::vector<Tensor>> expected_;
  // Activations that regions store, in the order of the program; of `Beyond` all but what was seen.
  std::vector<std::pair<ir::ValueId, Accuracy::Beyond>> stored_;
  std::vector<ir::ValueId> compared_;  // results of regions; empty: outputs of the model are
  std::future<Result<Reference>> reference_;
};

}  // namespace mrvlc::driver
