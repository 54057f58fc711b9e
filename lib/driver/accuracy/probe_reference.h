// The probe's float32 side: outputs of drawn inputs, what moves them, what fp16 does in front of what hides
// it.
#pragma once
#include "accuracy/fronts.h"
#include "accuracy/probe_samples.h"
#include "mrvlc/calibration/hints.h"
#include "mrvlc/calibration/sensitivity.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {

struct ReferenceSample {
  std::vector<Tensor> inputs, outputs;
  std::vector<EarlierStep> earlier;
  std::map<ir::ValueId, Tensor> of_regions;
  std::vector<double> fronts;  // errors with everything rounded, by ReferenceTask::fronts; empty: not known
};

struct Reference {
  std::vector<ReferenceSample> samples;
  size_t refused = 0;                        // samples that the model does not take
  std::optional<Diag> why;                   // the first of these
  std::map<ir::ValueId, double> magnitudes;  // the largest finite ones
  std::vector<size_t> blind;                 // outputs that hardly move, by position
  std::vector<bool> half_seen;               // by output: what is in front counts
  size_t found = 0;                          // samples behind the drawn ones, which move outputs that did not
};

// Does not refer to anything: it runs on another thread.
struct ReferenceTask {
  ir::Graph graph;
  std::vector<MadeSample> samples;
  std::vector<ir::ValueId> kept;  // values to hold
  interp::Options room;
  unsigned jobs = 0;
  std::vector<Front> fronts;
  calibration::Rounding rounding;  // all of the accelerator's
  size_t front_samples = 0;        // of so many samples
  // For the search of inputs that move what is blind.
  std::vector<calibration::InputHint> hints;
  calibration::Distributions known;
  size_t tries = 0;  // runs
  // Makes others in the place of those that the model does not take; none: samples are what they are.
  std::optional<SampleMaker> maker;
};

// Errors: no sample is taken.
Result<Reference> make_reference(const ReferenceTask& task);

}  // namespace mrvlc::driver
