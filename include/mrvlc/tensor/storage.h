// The format weights and constants are stored in on the accelerator, fp16: the one place that rounds to it,
// and that says what a rounding would lose, so that whoever folds numbers into weights can ask first.
#pragma once
#include <span>
#include <vector>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc {

// Weights seen as [groups, outer, channels, inner]: which output channel an element belongs to.
struct WeightLayout {
  int64_t groups = 1, outer = 1, channels = 0, inner = 1;
  bool one_sum = true;  // all of a channel's weights go into each of its sums
  int64_t channel(int64_t i) const { return i / inner / channels / outer * channels + i / inner % channels; }
};

// What becomes of finite values other than 0. Digits that every rounding to fp16 drops are no loss.
struct FormatLoss {
  int64_t values = 0;
  int64_t over = 0;           // become infinite
  int64_t under = 0;          // too small for a normal number of fp16 (below 2^-14) and not held exactly
  double norm = 0, lost = 0;  // sums of the squares of values, and of the errors of those under

  FormatLoss& operator+=(const FormatLoss& other);
  // The format does as well by these values as by any: none is infinite, and what is lost below 2^-14 is less
  // than 1/256 of the whole (of its norm).
  static constexpr double kShare = 0x1p-16;
  bool fits() const { return at_most(kShare); }
  bool at_most(double share) const { return over == 0 && lost <= share * norm; }
};

// What is rounded is w * alpha * factor of its output channel, in fp32; no factors: 1.
struct ScaledWeights {
  const Tensor& weights;
  WeightLayout layout;
  float alpha = 1;
  std::span<const float> factors;  // one an output channel, or none
};

ScaledWeights unscaled(const Tensor& constant);

FormatLoss format_loss(const ScaledWeights& w);
FormatLoss format_loss(const Tensor& constant);

// Whether format_loss(w) has none over and lost <= share * norm. Much faster where the largest value decides:
// no rounding below 2^-14 loses more than 2^-25.
bool loses_at_most(const ScaledWeights& w, double share);
// As format_loss(...).fits().
bool fits_format(const ScaledWeights& w);
bool fits_format(const Tensor& constant);

// Halves in the order of the weights. Along each output channel's weights, in memory order, the error of one
// rounding is carried into the next (error diffusion, Floyd and Steinberg 1976, in one dimension): behind a
// ReLU activations are positive and neighbouring ones alike, so what counts is the sum of the errors, and
// carrying keeps it below one rounding. Zeros stay zeros; values that are fp16 numbers do not change. Each
// weight is rounded by itself where they go into different sums.
std::vector<uint16_t> round_weights(const ScaledWeights& w);
// What `rounded`, the halves of these weights, lost, as halves; 0 where one is not finite.
std::vector<uint16_t> round_remainders(const ScaledWeights& w, std::span<const uint16_t> rounded);

}  // namespace mrvlc
