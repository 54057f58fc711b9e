// What the two forms of Attention's C share.
#pragma once
#include "attention/attention.h"

namespace mrvlc::ops {

struct AttentionCode {
  EmitContext& c;
  const AttentionParams& p;
  ElementType elem;
  std::string_view t, f;  // C type, suffix of <math.h> names

  std::string literal(double v) const { return c_literal(v, elem); }
  bool wants_scores(int64_t stage) const {
    return p.mode == stage && c.node().outputs.size() > AttentionParams::kScores;
  }
};

// Declares `bias`, what is added to the score of query i and key j of head h.
void emit_bias_value(AttentionCode& code);

// attention_rows.cpp: whether the kernel for many rows takes it, and its C for batch b.
bool takes_rows(const AttentionCode& code);
void emit_rows(AttentionCode& code);

}  // namespace mrvlc::ops
