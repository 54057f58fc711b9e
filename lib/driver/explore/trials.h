// The model with one choice or another of what is not to be fp16, as far as the probe.
#pragma once
#include "accuracy/roundings.h"
#include "explore/fit.h"
#include "stages/stages.h"

namespace mrvlc::driver {

// A compile that was measured.
struct Trial {
  double error = 0;
  bool overflows = false;               // values leave fp16
  double cycles = 0;                    // of all regions
  double seconds = 0;                   // expected of a run, with borders and host
  std::map<ir::NodeId, double> layers;  // of these, by the anchor of the layer that they are spent on
};

Trial trial_of(const ProbedModel& m);

// A trial as it was compiled, with the options of trials, and what it said.
struct Made {
  AccuracyChoice choice;
  Probed probed;
  Said said;
};

class AccuracyTrials {
 public:
  // Each trial goes on from a copy of the model that `from` makes.
  AccuracyTrials(Session& session, const Fork& from);

  // nullopt: it cannot be compiled so, or not probed.
  std::optional<Trial> measure(const AccuracyChoice& choice);
  // What is done without --accuracy about values that leave fp16.
  std::optional<AccuracyChoice> fitting() const { return fitting_choice(session_, from_, options_); }
  size_t runs() const { return runs_; }
  // nullopt: none was probed.
  std::optional<Probe> first_probe() && { return std::move(first_); }
  // The last one, if it is what a compile by the choice makes.
  std::optional<Made> made(const AccuracyChoice& choice) &&;

  // Of the first trial, without code.
  const ir::Graph& graph() const { return placed_->model.graph; }
  // With their sensitivities; nullopt: the interpreter does not get there.
  std::optional<RegionRoundings> roundings() const;

 private:
  void look_at(const Probed& first);

  const Fork& from_;
  CompileOptions options_;
  Session& session_;
  std::optional<PlacedModel> placed_;  // the first
  std::optional<Probe> first_;         // of the first that was probed
  std::vector<double> layer_cycles_;   // of that
  std::optional<Made> last_;
  size_t runs_ = 0;
};

}  // namespace mrvlc::driver
