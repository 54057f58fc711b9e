// What the operators of attention share: heads, masks and the weighted sum, in operators of ONNX.
#pragma once
#include "contrib/contrib.h"

namespace mrvlc::onnx {

// Operands [batch, heads, length, size], and how they meet.
struct Heads {
  std::string q, k, v;
  std::vector<std::string> biases;  // added to the scores, of a shape that broadcasts to theirs
  float scale = 1, softcap = 0;
  std::string sink;  // logits [heads] that take part in the softmax and have no value; empty: none
};

struct Attended {
  std::string y;       // [batch, length, heads * size]
  std::string scores;  // with bias, before the softmax
};
Attended attend(Decomposition& r, const Heads& heads);

// [batch, length, heads * size] as [batch, heads, length, size].
std::string split_heads(Decomposition& r, const std::string& x, int64_t heads);

// The attribute, or 1 / sqrt(size).
float attention_scale(const Decomposition& r, int64_t size);

// A bias of the type of `like` that is 0 where `keep` (bool) and `otherwise` elsewhere.
std::string bias_where(Decomposition& r, const std::string& keep, float otherwise, const std::string& like);

// True [rows, columns] where a column is not behind its row; the last row sees all columns.
std::string causal_keep(Decomposition& r, const std::string& q, const std::string& k);

// The attribute `num_heads` or another of that kind.
Result<int64_t> head_count(const Decomposition& r, std::string_view name);

// The last dimension, which is to be known.
Result<int64_t> known_width(const Decomposition& r, size_t k, std::string_view name);

}  // namespace mrvlc::onnx
