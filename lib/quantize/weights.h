// Weights as integers: a scale for each output channel, zero point 0.
#pragma once
#include "product.h"

namespace mrvlc::quantize {

// Sums over patches of a group: x what the network of integers reads, y what that of floats does.
struct GroupMoments {
  Matrix xx, yx;         // x xT, y xT: [depth, depth]
  Eigen::VectorXd x, y;  // sums of each
};
struct Moments {
  int64_t patches = 0;
  std::vector<GroupMoments> groups;
  bool has_products = false;  // else xx and yx are empty
};

struct IntegerWeights {
  Matrix integers;            // [channels, depth]
  std::vector<float> scales;  // by channel
  Eigen::VectorXd bias;       // by channel: to be added, for the mean of results to be as in floats
};

// What the integers stand for.
Matrix real_weights(const IntegerWeights& weights);

struct Rounding {
  ElementType type = ElementType::I8;
  // All weights of a channel together, so that results change least (Frantar et al., "GPTQ" (2022), around
  // the least-squares solution for the inputs that the network of integers has; Nagel et al., "Up or down?"
  // (2020), for why); else each to the nearest.
  bool learn = true;
  // There is a bias that takes what means move by: weights are for the rest.
  bool has_bias = true;
  // By channel: no scale is less, so that biases fit into the sums; empty: any is.
  std::vector<double> least_scales = {};
};

// `moments` null: nothing is known of the data.
IntegerWeights round_weights(const Matrix& weights, const ProductShape& shape, const Moments* moments,
                             const Rounding& rounding);

}  // namespace mrvlc::quantize
