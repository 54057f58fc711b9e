// The models, small enough to count.
#pragma once
#include "model_util.h"

namespace mrvlc::test {

// Weights of one value; the shape is what counts.
void add_weights(pb::ModelProto& model, const std::string& name, const std::vector<int64_t>& dims,
                 float value = 0.25f);
// A node with a name.
pb::NodeProto& add_named(pb::ModelProto& model, const std::string& name, const std::string& op,
                         const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

// x[1,3,8,8] -> c1 (3x3, 8 channels, padded) -> r1 (Relu) -> dw (3x3 depthwise, padded) -> gap -> flat
// -> fc (8 -> 4) -> y
pb::ModelProto counted_model();
// x[1,16,8,8] -> c (1x1, 16 channels) -> y
pb::ModelProto pointwise_model();
// x[1,16,8,8] -> c1 (1x1, 16 channels) -> c2 (1x1, stride 2, 32 channels) -> y: c2 reads a quarter of c1
pb::ModelProto unread_model();
// x[2,4] -> g1 (Gemm, 4 -> 8) -> s (Sin) -> g2 (Gemm, 8 -> 2) -> y
pb::ModelProto mixed_model();
// x[1,4] -> g (Gemm, 4 -> 8) -> drop (Dropout) -> a (Add of k = a constant times a constant) -> y
pb::ModelProto folded_model();
// choose ? x[2,4] * w[4,3] + x * w : x * w, the products in branches
pb::ModelProto branches_model();
// x[1,4,8,8] -> bn (BatchNormalization) -> r (Relu) -> c (1x1 Conv) -> y
pb::ModelProto split_model();
// x[1,4,8,8] -> c0 (1x1 Conv) -> r0 (Relu) -> bn (BatchNormalization) -> r (Relu) -> c (1x1 Conv) -> y
pb::ModelProto late_split_model();
// x[1,4,8,8] -> c (1x1 Conv) -> bn (BatchNormalization) -> r (Relu) -> flat (Flatten) -> y
pb::ModelProto merged_model();
// x[2,4] -> g (Gemm, 4 -> 8) -> y; i[2,4] of uint8 -> mi (MatMulInteger, 4 -> `columns`) -> z
pb::ModelProto half_quantised_model(int64_t columns);

}  // namespace mrvlc::test
