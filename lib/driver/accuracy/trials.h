// Compiles as far as the probe, with one choice or another of what is not to be fp16.
#pragma once
#include "accuracy/fit.h"
#include "accuracy/roundings.h"

namespace mrvlc::driver {

class Probe;

// A compile that was measured.
struct Trial {
  double error = 0;
  bool overflows = false;               // values leave fp16
  double cycles = 0;                    // of all regions
  std::map<ir::NodeId, double> layers;  // of these, by the anchor of the layer that they are spent on
};

class Trials {
 public:
  explicit Trials(const CompileOptions& options);

  // nullopt: it cannot be compiled so, or not probed.
  std::optional<Trial> measure(const AccuracyChoice& choice);
  // What is done without --accuracy about values that leave fp16.
  std::optional<AccuracyChoice> fitting() const { return fitting_choice(options_); }
  size_t runs() const { return runs_; }

  // Of the first trial, without code.
  const ir::Graph& graph() const { return *graph_; }
  // With their sensitivities; nullopt: the interpreter does not get there.
  std::optional<RegionRoundings> roundings() const;

 private:
  void take(const CompiledModel& m, const Probe& probe);

  CompileOptions options_;
  std::optional<ir::Graph> graph_;  // before code generation
  std::optional<partition::Partition> partition_;
  std::shared_ptr<const backend::Backend> backend_;  // null until a model was seen
  std::vector<double> layer_cycles_;
  std::vector<std::vector<Tensor>> samples_;
  std::vector<ir::ValueId> compared_;
  size_t runs_ = 0;
};

}  // namespace mrvlc::driver
