// Small random graphs of operators that the accelerator has layers for, and some that it has not.
#pragma once
#include "../graphs/model.h"
#include "trial.h"

namespace mrvlc::rule_trials {

graphs::Model random_model(uint64_t seed);
// Graph, inputs, expected outputs and tolerances; the caller adds rules.
Trial trial_of(const graphs::Model& model);

}  // namespace mrvlc::rule_trials
