// `compile --accuracy` and `--objective accuracy`: trials, and what they come to.
#pragma once
#include "explore/trials.h"

namespace mrvlc::driver {

struct Chosen {
  // nullopt: the compile itself fails, or there is no probe; a compile without a choice says why.
  std::optional<AccuracyChoice> choice;
  std::optional<Probe> probe;  // of a trial: for Probe::begin of what is compiled by the choice
  std::optional<Made> made;    // by the choice, where the last trial was of it
};
// Compiles and measures until the outputs of the probe are near enough, or nothing is left to be done.
Chosen choose_for_accuracy(Session& session, const Fork& fork);

// What more exactness costs: each row has about half the predicted error of the one before; the first is the
// compile without --accuracy. Empty: there is no probe.
struct FrontierPoint {
  double predicted = 0;
  Trial measured;
  double host_cycles = 0;  // an estimate of what the host computes instead
  AccuracyChoice choice;
};
// `ends`: behind them, where values leave fp16, what a compile does about these on its own, and what comes of
// leaving the accelerator nothing but what is held there.
std::vector<FrontierPoint> accuracy_frontier(Session& session, const Fork& fork, bool ends = false);

}  // namespace mrvlc::driver
