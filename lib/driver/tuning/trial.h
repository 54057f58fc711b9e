// A program of the network with certain variants, built to be measured.
#pragma once
#include <map>

#include "inputs/tuning_file.h"
#include "mrvlc/driver/tune.h"
#include "mrvlc/support/temporary_dir.h"
#include "profile/measured.h"
#include "stages/stages.h"

namespace mrvlc::driver {

// A model compiled for the host alone with a tuning.
struct TrialCompile {
  TemporaryDir temporary;  // OUT is the folder "out" in it
  std::string model;       // SHA-256
  std::vector<chost::LayerChoice> choices;
};
// What all of them have in common: for the host, its kernels not chosen yet. What is wrong with the model is
// told in `said`.
Result<PlacedModel> place_for_trials(const TuneOptions& options, Said& said);
// `said` receives what is told of its code, warnings too.
Result<TrialCompile> compile_trial(const PlacedModel& placed, const chost::Tuning& tuning, Said& said);

class TuningTrial {
 public:
  static Result<TuningTrial> build(const TuneOptions& options, TrialCompile compiled);
  // Some runs, about a quarter of a second of them; `steps`: of each layer as well.
  Status run(bool steps);
  // The least of all runs, by the clock.
  double whole_ns() const { return whole_ns_; }
  // Adds the times of layers, the least of each layer's runs and the mean of those of one text.
  void note(std::vector<TunedLayer>& layers) const;
  const std::vector<chost::LayerChoice>& choices() const { return compiled_.choices; }

 private:
  TuningTrial(TrialCompile compiled, MeasuredProgram program)
      : compiled_(std::move(compiled)), program_(std::move(program)) {}

  TrialCompile compiled_;
  MeasuredProgram program_;
  int runs_ = 0;
  double whole_ns_ = 0;
  std::map<uint32_t, double> step_ns_;  // by expression
};

}  // namespace mrvlc::driver
