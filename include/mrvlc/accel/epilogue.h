// Constants of an epilogue that become part of a layer's weights and bias: legality and the back end ask the
// same function, so that what was found to fit is what is stored.
#pragma once
#include "mrvlc/partition/region.h"
#include "mrvlc/tensor/storage.h"

namespace mrvlc::accel {

struct FoldedConstants {
  std::vector<float> scale, shift;  // per output channel, in fp32; both empty: 1 and 0
  size_t nodes = 0;                 // of the layer, after its anchor, that are in them
};
// Of a layer of kind conv, conv_transpose, fc or matmul. Taken in turn are Add, Sub (constant on the right)
// and, with constant weights, Mul and Div (constant on the right) with one value or one for each channel; as
// many of them as leave weights that fit fp16.
FoldedConstants fold_constants(const ir::Graph& graph, const partition::Layer& layer);

// The weights of the layer's anchor as they are stored without an epilogue; nullopt: they are computed, or no
// matrix or convolution's.
std::optional<ScaledWeights> constant_weights(const ir::Graph& graph, const ir::Node& anchor);

}  // namespace mrvlc::accel
