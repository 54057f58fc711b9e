// Whether fp16 holds a model's values, found by trying: the compiled model runs on drawn inputs
// (device_run.h) beside the same graph in float32. What it costs is counted before; a compile never waits for
// more.
#pragma once
#include <future>

#include "accuracy/probe_budget.h"
#include "accuracy/probe_reference.h"
#include "model/compiled_model.h"
#include "mrvlc/calibration/draw.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {

class DeviceRun;

class Probe {
 public:
  // Before code generation, which gives constants back. `data`: null without --calibration. The reference is
  // computed on another thread, unless options.jobs is 1. `like`: of the same simplified model placed
  // otherwise; where placing has not changed the graph, its reference is this one's, too. May be null.
  // Errors: those of --input-range.
  static Result<Probe> begin(const PlacedModel& m, const CompileOptions& options,
                             const calibration::Calibration* data, const Probe* like = nullptr);
  // When all binaries are there.
  Result<Accuracy> finish(const CodedModel& m);
  // Then, where `m.accuracy` is good enough: what the program checks of its inputs (input_limits.h). Ranges
  // that were stated are taken as they are. Errors: of the simulator.
  Result<std::vector<Accuracy::Limit>> limits(const ProbedModel& m, const CompileOptions& options) const;

  const std::vector<std::vector<Tensor>>& inputs() const { return inputs_; }  // by sample
  // What is compared instead of the model's outputs where these hold no floats, or elements that values
  // count; else empty.
  const std::vector<ir::ValueId>& compared() const { return compared_; }

 private:
  void draw(const ir::Graph& graph, size_t samples, const calibration::Distributions& known,
            const ProbePlan& plan);
  ReferenceTask task(const PlacedModel& m, const CompileOptions& options, const ProbePlan& plan);
  void tell_reference(const Reference& expected);
  bool has_reference_of(const Probe& other) const;
  void take_samples(const QuantizedModel& quantized, size_t samples);
  void take_calibration(const calibration::Calibration& data);
  Status compare(const CodedModel& m, const Reference& expected);
  Result<std::vector<Tensor>> walk(DeviceRun& device, const ReferenceSample& sample);
  // What stored values the calibration data or the reference have seen beyond fp16.
  void find_beyond(const Reference* expected);
  void choose_worst();
  void prepare_search(const PlacedModel& m, const CompileOptions& options);
  std::vector<std::vector<Tensor>> scaled_inputs(double factor) const;

  Accuracy accuracy_;
  std::vector<std::vector<Tensor>> inputs_;        // by sample
  std::optional<SampleMaker> maker_;               // of samples that were drawn
  std::vector<std::vector<EarlierStep>> earlier_;  // of these, until the reference has them
  // Outputs that are known, by sample; else empty: the reference's are compared with.
  std::vector<std::vector<Tensor>> expected_;
  // Activations that regions store, in the order of the program; of `Beyond` all but what was seen.
  std::vector<std::pair<ir::ValueId, Accuracy::Beyond>> stored_;
  std::vector<ir::ValueId> compared_;          // results of regions; empty: outputs of the model are
  std::vector<calibration::InputHint> hints_;  // by position in graph.inputs()
  std::vector<Front> fronts_;
  std::vector<std::string> front_names_;
  bool shares_ = false;  // the graph is as it was simplified
  std::shared_future<Result<Reference>> reference_;
  // For limits of inputs: the distributions of all, of which --input-range names some, and data or it state
  // some; the graph with all its constants where there is time for runs of so many samples, else null.
  calibration::Distributions distributions_, named_, stated_;
  std::optional<ir::Graph> whole_;
  int search_runs_ = 0, small_runs_ = 0;
  size_t search_samples_ = 1;
};

}  // namespace mrvlc::driver
