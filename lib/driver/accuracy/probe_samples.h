// Samples that are made for the probe: of every kind of input and every choice, states as a program would
// have them.
#pragma once
#include "mrvlc/calibration/hints.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::driver {

// A run before a sample, whose states go into the next one, in float32.
struct EarlierStep {
  std::vector<Tensor> inputs, outputs;
};

struct MadeSample {
  std::vector<Tensor> inputs;
  std::vector<EarlierStep> earlier;  // the first begins with states of zero; empty: states are what they are
};

class SampleMaker {
 public:
  // `known`: distributions of inputs, of which --input-range names some. `single`: of a large network, a
  // sample that looks like what it takes. `steps`: before every second sample, where there are states.
  SampleMaker(std::vector<calibration::InputHint> hints, calibration::Distributions known,
              calibration::Distributions named, bool single, int steps);

  MadeSample make(const ir::Graph& graph, size_t k) const;
  // Samples k and k + choices() have the same choices.
  size_t choices() const { return choices_; }

 private:
  calibration::Distributions distributions(size_t k) const;

  std::vector<calibration::InputHint> hints_;
  calibration::Distributions known_, named_;
  bool single_;
  int steps_;
  size_t choices_;
};

// The states among `inputs` become what a run made of them.
void hand_on_states(const std::vector<calibration::InputHint>& hints, const std::vector<Tensor>& outputs,
                    std::vector<Tensor>& inputs);

}  // namespace mrvlc::driver
