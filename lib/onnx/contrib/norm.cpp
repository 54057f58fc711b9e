// Normalisations with what stands in front of them: the sum with a skip connection, the embeddings.
#include "contrib/contrib.h"

namespace mrvlc::onnx {
namespace {

std::string normalized(Decomposition& r, const std::string& x, size_t gamma, size_t beta, float epsilon) {
  std::string y = r.add("LayerNormalization", {x, r.in(gamma), r.in(beta)});
  r.set("axis", int64_t{-1}).set("epsilon", r.float_attr("epsilon", epsilon));
  return y;
}

std::string skip_sum(Decomposition& r, size_t bias) {
  std::string sum = r.add("Add", {r.in(0), r.in(1)});
  return r.has(bias) ? r.add("Add", {sum, r.in(bias)}) : sum;
}

// Outputs 1 and 2, mean and deviation, are of training.
void skip_results(Decomposition& r, const std::string& y, const std::string& sum) {
  r.result(0, y);
  if (r.wants(3)) r.result(3, sum);
}

Status skip_layer_norm(Decomposition& r) {
  std::string sum = skip_sum(r, 4);
  skip_results(r, normalized(r, sum, 2, 3, 1e-12f), sum);
  return {};
}

Status skip_rms_norm(Decomposition& r) {
  std::string sum = skip_sum(r, 3);
  std::string y = r.add("RMSNormalization", {sum, r.in(2)});
  r.set("axis", int64_t{-1}).set("epsilon", r.float_attr("epsilon", 1e-12f));
  skip_results(r, y, sum);
  return {};
}

Status simplified_layer_norm(Decomposition& r) {
  std::string y = r.add("RMSNormalization", {r.in(0), r.in(1)});
  r.pass({"axis", "epsilon", "stash_type"});
  r.result(0, y);
  return {};
}

Status layer_norm(Decomposition& r) {
  std::string y = r.add("LayerNormalization", {r.in(0), r.in(1), r.in(2)});
  r.pass({"axis", "epsilon", "stash_type"});
  r.result(0, y);
  return {};
}

// What the mask keeps of every text; without one, zeros.
std::string text_lengths(Decomposition& r) {
  if (r.has(7)) {
    std::string count = r.add("ReduceSum", {r.in(7), r.constant({1})});
    r.set("keepdims", int64_t{0});
    return r.cast(count, ElementType::I32);
  }
  std::string batch = r.add("Shape", {r.in(0)});
  r.set("end", int64_t{1});
  return r.cast(r.add("ConstantOfShape", {batch}), ElementType::I32);
}

// Sum of the embeddings of tokens, positions and segments, normalised. Inputs: ids, segments, tables of
// words, positions and segments, gamma, beta, mask, positions. Outputs: result, length of every text, sum.
Status embed_layer_norm(Decomposition& r) {
  std::string positions;
  if (r.has(8)) {
    positions = r.add("Gather", {r.in(3), r.in(8)});
  } else {
    std::string length = r.add("Shape", {r.in(0)});
    r.set("start", int64_t{1}).set("end", int64_t{2});
    positions = r.add("Slice", {r.in(3), r.constant({0}), length, r.constant({0})});
  }
  std::string sum = r.add("Add", {r.add("Gather", {r.in(2), r.in(0)}), positions});
  if (r.has(1) && r.has(4)) sum = r.add("Add", {sum, r.add("Gather", {r.in(4), r.in(1)})});
  r.result(0, normalized(r, sum, 5, 6, 1e-12f));
  if (r.wants(1)) r.result(1, text_lengths(r));
  r.int_attr("mask_index_type", 1);
  if (r.wants(2)) r.result(2, sum);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_norm() {
  static const std::vector<ContribOp> ops = {
      {"com.microsoft", "SkipLayerNormalization", 3, 5, skip_layer_norm, "Add, LayerNormalization"},
      {"com.microsoft", "SkipSimplifiedLayerNormalization", 3, 4, skip_rms_norm, "Add, RMSNormalization"},
      {"com.microsoft", "EmbedLayerNormalization", 7, 9, embed_layer_norm, "Gather, Add, LayerNormalization"},
      // ONNX Runtime has these in ONNX's own domain, from its first operator set on.
      {"", "SimplifiedLayerNormalization", 2, 2, simplified_layer_norm, "RMSNormalization"},
      {"", "LayerNormalization", 2, 3, layer_norm, "LayerNormalization"},
  };
  return ops;
}

}  // namespace mrvlc::onnx
