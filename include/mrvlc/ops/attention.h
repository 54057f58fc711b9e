// What an Attention says: for its reference, its C, and the pass that writes it as products of matrices.
#pragma once
#include <string>
#include <string_view>

#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

// Attention (ONNX -24), for each head, with a key and value head shared by heads / kv_heads query heads:
//   s = scale * Q K^T      s = softcap * tanh(s / softcap)      p = softmax(s + bias)      Y = p V
// The bias is the mask (bool: 0 where true, else -inf), -inf above the diagonal when causal, and -inf for the
// keys at and behind nonpad_kv_seqlen. A row whose bias is -inf throughout has p = 0.

// Where the row of one head lies, in elements: [batch, heads, length, size], or [batch, length, heads *
// size].
struct HeadRows {
  int64_t batch = 0, head = 0, row = 0;  // strides
  int64_t at(int64_t b, int64_t h, int64_t i) const { return b * batch + h * head + i * row; }
  std::string text(std::string_view b, std::string_view h, std::string_view i) const;
};
HeadRows head_rows(bool packed, int64_t heads, int64_t length, int64_t size);

struct AttentionParams {
  enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };
  enum Output : size_t { kY, kPresentKey, kPresentValue, kScores };

  int64_t batch = 0, heads = 0, kv_heads = 0;  // query heads; key and value heads
  int64_t q_length = 0, kv_length = 0, past = 0;
  int64_t size = 0, v_size = 0;  // of one head
  bool packed = false;           // operands of rank 3
  bool causal = false, has_lengths = false;
  int64_t mode = 0;  // what the output kScores holds
  double scale = 1, softcap = 0;
  Shape mask_strides;  // of [batch, heads, q_length, total]
  int64_t mask_length = 0;

  int64_t total() const { return past + kv_length; }
  int64_t kv_head(int64_t head) const { return head / (heads / kv_heads); }
  HeadRows q() const { return head_rows(packed, heads, q_length, size); }
  HeadRows k() const { return head_rows(packed, kv_heads, kv_length, size); }
  HeadRows v() const { return head_rows(packed, kv_heads, kv_length, v_size); }
  HeadRows y() const { return head_rows(packed, heads, q_length, v_size); }
  HeadRows past_rows(int64_t width) const { return head_rows(false, kv_heads, past, width); }
  Shape present(int64_t width) const { return {batch, kv_heads, total(), width}; }
  Shape scores() const { return {batch, heads, q_length, total()}; }
};
// Of a node whose shapes are known. Errors: those of the operator (ranks, sizes, attributes).
Result<AttentionParams> attention_params(const InferContext& context);

}  // namespace mrvlc::ops
