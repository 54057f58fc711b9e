// A layer with constant weights followed by y[c] = scale[c] * x[c] + shift[c] is that layer with other
// weights.
#pragma once
#include "util.h"

namespace mrvlc::passes {

// Per-channel affine map along axis 1; one entry a channel.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

// Of a BatchNormalization with constant statistics in inference mode whose first output only is used:
//   scale = gamma / sqrt(variance + epsilon), shift = beta - mean * scale
// nullopt otherwise, or when a factor is not finite.
std::optional<ChannelAffine> batchnorm_affine(const Graph& graph, const Node& node);
// Of Mul, Div, Add or Sub of `data` with a constant that varies along axis 1 of the result at most; `data`
// has the result's type. Sets `data`.
std::optional<ChannelAffine> arithmetic_affine(const Graph& graph, const Node& node, ValueId& data);
// Makes Conv, ConvTranspose or Gemm anew with `affine` of `follower` in weights and bias, if the follower is
// its only reader, its weights are constant and used by nothing else, and its bias is constant. Computed in
// double, rounded once to the type of the weights; refused when a weight would overflow, or with
// `half_weights` when they fitted fp16 and no longer would, and where the result is rounded to an integer
// next. Returns whether it was done.
bool fold_into_producer(Rewriter& rw, NodeId follower, ValueId data, const ChannelAffine& affine,
                        Because because, bool half_weights);
// Whether a reader of `value` rounds it to an integer, arithmetic with constants in between included:
// networks in integer arithmetic written with floats count on exact intermediate values, and a rounding that
// moves by one unit in the last place becomes a whole step.
bool is_rounded_next(const Graph& graph, ValueId value);
// `after` holds worse in fp16 than `before` did.
bool leaves_half(const Tensor& before, const Tensor& after);

}  // namespace mrvlc::passes
